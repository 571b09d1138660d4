// The page on which a person marks moments.

import { MOST_MOMENTS, addMoment, answerOf, emptyAnswer, momentAt, removeMoment, setEnd, setVerdict } from "./answer.js";
import { announce, byId } from "./page.js";
import { Keys } from "./keys.js";
import { hint } from "./messages.js";
import { showMoments, timesAreValid } from "./moments.js";
import { showReasons } from "./reasons.js";
import { Session } from "./session.js";
import { spanText } from "./timeline.js";
import { History } from "./undo.js";

const REASONS = ["ambiguous", "not visible", "only heard", "other"];

let answer = emptyAnswer();
let selected = 0;
let reviewed = new Set(); // moments that were played to their end, as text
/** @type {History<any>} */
let history = new History(answer);

const session = new Session({ load, take });
const { player, timeline } = session;

function load() {
  answer = answerOf(session.task.answer);
  selected = 0;
  reviewed = new Set(session.task.state === "submitted" ? answer.moments.map(textOf) : []);
  history = new History(answer);
  show();
  const { task } = session;
  if (keys.own.live && task.state === "open") player.show(0).then(() => session.task === task && player.play());
}

/** @param {import("./answer.js").Answer} other an answer in place of the one that is shown */
function take(other) {
  answer = other;
  selected = 0;
  history.add(answer);
  show();
}

/** @param {{first: number, last: number}} moment */
function textOf(moment) {
  return `${moment.first}-${moment.last}`;
}

/** Keep the answer after a change: show it, and save it. */
function changed() {
  if (!history.add(answer)) return show();
  hint("");
  show();
  session.save(answer);
}

/** @param {any} state one that was gone back to @param {string} word */
function goTo(state, word) {
  if (!state) return;
  answer = state;
  selected = Math.min(selected, Math.max(0, answer.moments.length - 1));
  show();
  session.save(answer);
  announce(word);
}

/** @param {"first" | "last"} end */
function mark(end) {
  const { table } = session;
  if (!table) return;
  const isLive = player.isPlaying;
  keys.keep({ live: isLive });
  // While the video plays, the key comes late: by how much is a setting of the person.
  const frame = isLive ? table.frameAt(Math.max(0, table.start(player.frame) - keys.earlier)) : player.frame;
  if (!answer.moments.length || answer.verdict !== "marked") {
    answer.moments = [];
    addMoment(answer, frame);
    selected = 0;
  } else {
    setEnd(answer, selected, end, frame);
  }
  const moment = answer.moments[selected];
  changed();
  announce(`moment ${selected + 1}: ${spanText(table, moment)}`);
  if (isLive && end === "last" && session.me.settings.review === "required") review();
}

function another() {
  if (!session.me.settings.several || !session.table) return;
  if (answer.moments.length >= MOST_MOMENTS) return hint(`An answer has at most ${MOST_MOMENTS} moments.`);
  if (momentAt(answer, player.frame) >= 0) return hint("This frame is already in a moment. Go to another frame first.");
  selected = addMoment(answer, player.frame);
  changed();
}

/** @param {number} k */
function remove(k) {
  if (!answer.moments[k]) return;
  removeMoment(answer, k);
  selected = Math.max(0, Math.min(selected, answer.moments.length - 1));
  changed();
  announce("moment removed");
}

/** @param {number} by */
function select(by) {
  const count = answer.moments.length;
  if (!count) return;
  selected = (selected + by + count) % count;
  show();
}

/** @param {boolean} loop */
function review(loop = false) {
  const moment = answer.moments[selected];
  if (!moment) return hint("There is no moment yet. Mark its start (I) and its end (O).");
  const text = textOf(moment); // as it is now: it may change while it is played
  player.playPart(moment.first, moment.last, {
    loop,
    done: () => {
      reviewed.add(text);
      show();
    },
  });
}

/** @param {"first" | "last"} end @param {boolean} around */
function goToEnd(end, around = false) {
  const moment = answer.moments[selected];
  if (!moment || !session.table) return;
  if (!around) return player.goTo(moment[end]);
  const time = end === "first" ? session.table.start(moment.first) : session.table.end(moment.last);
  player.playPart(session.table.frameAt(Math.max(0, time - 1)), session.table.frameAt(time + 1));
}

/** @param {"first" | "last"} end @param {number} by */
function nudge(end, by) {
  const moment = answer.moments[selected];
  if (!moment || !session.table) return;
  setEnd(answer, selected, end, session.table.clamp(moment[end] + by));
  changed();
  player.goTo(answer.moments[selected][end]);
}

/** @param {string} verdict */
function say(verdict) {
  setVerdict(answer, verdict);
  selected = 0;
  changed();
  if (answer.verdict === "unclear") byId("reason-list").querySelector("input")?.focus();
}

/** @returns {string} why the answer cannot be submitted; "" if it can */
function missing() {
  if (!answer.verdict) return "Mark a moment (I and O), or choose “not in the video”.";
  if (answer.verdict === "unclear" && !answer.reasons.length) return "Choose why it is unclear.";
  const unseen = answer.moments.findIndex((moment) => !reviewed.has(textOf(moment)));
  if (session.me.settings.review === "required" && unseen >= 0) return `Review moment ${unseen + 1} before you submit (R).`;
  return "";
}

function submit() {
  if (!session.isReady || !timesAreValid()) return;
  const why = missing();
  if (why) return hint(why);
  session.submit(answer);
}

function show() {
  timeline.setSpans(answer.moments, selected);
  const state = { table: session.table, selected, isReviewed: (/** @type {any} */ moment) => reviewed.has(textOf(moment)) };
  showMoments(answer.moments, state, { select: choose, set: setTo, remove });
  for (const name of ["absent", "unclear", "broken"]) {
    byId(name).setAttribute("aria-pressed", String(answer.verdict === name));
  }
  const hasReasons = ["unclear", "broken"].includes(answer.verdict);
  showReasons(hasReasons ? answer : null, answer.verdict === "unclear" ? REASONS : [], changed);
  byId("review").disabled = !answer.moments.length;
  byId("zoom-fit").disabled = !answer.moments.length;
  byId("undo").disabled = !history.past.length;
  byId("redo").disabled = !history.future.length;
  byId("another").disabled = !answer.moments.length;
}

/** @param {number} k */
function choose(k) {
  if (k === selected) return;
  selected = k;
  show();
}

/** @param {number} k @param {"first" | "last"} end @param {number} time that was typed: the frame that starts, or ends, there */
function setTo(k, end, time) {
  if (!session.isReady || !session.table || !answer.moments[k]) return;
  selected = k;
  setEnd(answer, k, end, session.table.frameAt(end === "first" ? time + 0.004 : Math.max(0, time - 0.004)));
  changed();
  player.goTo(answer.moments[k][end]);
}

timeline.addEventListener("select", (event) => choose(/** @type {CustomEvent} */ (event).detail));
timeline.addEventListener("move", (event) => {
  const { span, end, frame, done } = /** @type {CustomEvent} */ (event).detail;
  if (!session.isReady || !answer.moments[span]) return;
  setEnd(answer, span, end, frame);
  player.goTo(answer.moments[span][/** @type {"first" | "last"} */ (end)]);
  if (done) changed();
  else show();
});

const keys = new Keys([
  { keys: ["Space", "K"], text: "play, pause", act: () => player.toggle() },
  { keys: ["I"], text: "start at this frame", act: () => mark("first") },
  { keys: ["O"], text: "end at this frame, which is included", act: () => mark("last") },
  { keys: ["R", "Shift+R"], text: "review once, in a loop", act: (key) => review(key !== "R") },
  { keys: ["Ctrl+Enter"], text: "submit and next", act: () => submit() },
  { keys: ["A"], text: "not in the video", act: () => say("absent") },
  { keys: ["U"], text: "unclear", act: () => say("unclear") },
  { keys: [",", "."], text: "a frame back, on", act: (key) => player.step(key === "," ? -1 : 1) },
  { keys: ["<", ">", ";", ":"], shown: ["Shift+,", "Shift+."], text: "10 frames back, on", act: (key) => player.step("<;".includes(key) ? -10 : 10) },
  { keys: ["ArrowLeft", "ArrowRight"], text: "1 s back, on", act: (key) => player.jump(key === "ArrowLeft" ? -1 : 1) },
  { keys: ["Shift+ArrowLeft", "Shift+ArrowRight"], text: "5 s back, on", act: (key) => player.jump(key.endsWith("Left") ? -5 : 5) },
  { keys: ["J"], text: "1 s back", act: () => player.jump(-1) },
  { keys: ["L"], text: "faster: 1, 1.5, 2, 4", act: () => session.controls.faster() },
  { keys: ["[", "]"], text: "start a frame earlier, later", act: (key) => nudge("first", key === "[" ? -1 : 1) },
  { keys: ["{", "}"], text: "end a frame earlier, later", act: (key) => nudge("last", key === "{" ? -1 : 1) },
  { keys: ["Shift+I", "Shift+O"], text: "go to the start, the end", act: (key) => goToEnd(key === "Shift+I" ? "first" : "last") },
  { keys: ["E", "Shift+E"], text: "play 1 s around the start, the end", act: (key) => goToEnd(key === "E" ? "first" : "last", true) },
  { keys: ["N"], text: "another moment here", act: () => another() },
  { keys: ["ArrowUp", "ArrowDown"], text: "previous, next moment", act: (key) => select(key === "ArrowUp" ? -1 : 1) },
  { keys: ["Delete", "Backspace"], text: "remove the moment", act: () => remove(selected) },
  { keys: ["Home", "End"], text: "start, end of the video", act: (key) => player.goTo(key === "Home" ? 0 : Infinity) },
  { keys: [..."0123456789"], shown: ["0", "…", "9"], text: "tenths of the video", act: (key) => player.goTo((Number(key) * (session.table?.count || 0)) / 10) },
  { keys: ["+", "-", "Z"], text: "zoom, fit the moment", act: (key) => zoom(key) },
  { keys: ["Ctrl+Z"], text: "undo", act: () => goTo(history.undo(), "undone") },
  { keys: ["Ctrl+Shift+Z", "Ctrl+Y"], text: "redo", act: () => goTo(history.redo(), "redone") },
  { keys: ["Alt+ArrowLeft"], text: "the previous task", act: () => session.previous(), always: true },
  { keys: ["?"], text: "this table", act: () => keys.show(byId("keys"), true), always: true },
], () => session.isReady);

/** @param {string} key */
function zoom(key) {
  const moment = answer.moments[selected];
  if (key === "Z") return moment && timeline.fit(moment);
  timeline.zoom(key === "+" ? 0.5 : 2);
}

byId("mark-in").addEventListener("click", () => mark("first"));
byId("mark-out").addEventListener("click", () => mark("last"));
byId("another").addEventListener("click", another);
byId("review").addEventListener("click", () => review());
byId("undo").addEventListener("click", () => goTo(history.undo(), "undone"));
byId("redo").addEventListener("click", () => goTo(history.redo(), "redone"));
byId("absent").addEventListener("click", () => say("absent"));
byId("unclear").addEventListener("click", () => say("unclear"));
byId("broken").addEventListener("click", () => say("broken"));
byId("submit").addEventListener("click", submit);
byId("help").addEventListener("click", () => keys.show(byId("keys"), true));
byId("zoom-fit").addEventListener("click", () => zoom("Z"));

session.start();
