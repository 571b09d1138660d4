// The page on which a person marks moments.

import { addMoment, answerOf, bothOf, emptyAnswer, momentAt, removeMoment, setEnd, setVerdict } from "./answer.js";
import { clock } from "./frames.js";
import { Keys } from "./keys.js";
import { showConflict, showFeedback } from "./dialogs.js";
import { Session, byId } from "./session.js";
import { spanText } from "./timeline.js";
import { History } from "./undo.js";
import { showReasons } from "./reasons.js";

const REASONS = ["ambiguous", "not visible", "only heard", "other"];

let answer = emptyAnswer();
let selected = 0;
let reviewed = new Set(); // moments that were played to their end, as text
/** @type {History<any>} */
let history = new History(answer);

const session = new Session({ load, left, conflict, stored });
const { player, timeline } = session;

function load() {
  answer = answerOf(session.task.answer);
  selected = 0;
  reviewed = new Set(session.task.state === "submitted" ? answer.moments.map(textOf) : []);
  history = new History(answer);
  show();
}

/** @param {any} body an answer that an earlier page could not store */
function left(body) {
  answer = answerOf(body);
  history.add(answer);
  show();
  session.say("An unsaved change was found in this browser, and is being saved.");
}

/** @param {{first: number, last: number}} moment */
function textOf(moment) {
  return `${moment.first}-${moment.last}`;
}

/** Keep the answer after a change: show it, and save it. */
function changed() {
  if (!history.add(answer)) return show();
  session.say("");
  show();
  session.save(answer);
}

/** @param {any} state one that was gone back to */
function goTo(state) {
  if (!state) return;
  answer = state;
  selected = Math.min(selected, Math.max(0, answer.moments.length - 1));
  show();
  session.save(answer);
  session.announce("undone");
}

/** @param {"first" | "last"} end */
function mark(end) {
  const frame = player.frame;
  if (!answer.moments.length || answer.verdict !== "marked") {
    answer.moments = [];
    addMoment(answer, frame);
    selected = 0;
  } else {
    setEnd(answer, selected, end, frame);
  }
  const moment = answer.moments[selected];
  changed();
  session.announce(`moment ${selected + 1}: ${session.table ? spanText(session.table, moment) : ""}`);
}

function another() {
  if (!session.me.settings.several) return;
  const at = addMoment(answer, player.frame);
  if (at < 0) return session.say("This frame lies in a moment already. Go to another place first.");
  selected = at;
  changed();
}

/** @param {number} k */
function remove(k) {
  if (!answer.moments[k]) return;
  removeMoment(answer, k);
  selected = Math.max(0, Math.min(selected, answer.moments.length - 1));
  changed();
  session.announce("moment removed");
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
  if (!moment) return session.say("There is no moment yet: I marks its start, O its end.");
  player.playPart(moment.first, moment.last, {
    loop,
    done: () => {
      reviewed.add(textOf(moment));
      show();
    },
  });
}

/** @param {"first" | "last"} end @param {boolean} around */
function goToEnd(end, around = false) {
  const moment = answer.moments[selected];
  if (!moment || !session.table) return;
  if (!around) return player.show(moment[end]);
  const time = end === "first" ? session.table.start(moment.first) : session.table.end(moment.last);
  player.playPart(session.table.frameAt(Math.max(0, time - 1)), session.table.frameAt(time + 1));
}

/** @param {"first" | "last"} end @param {number} by */
function nudge(end, by) {
  const moment = answer.moments[selected];
  if (!moment || !session.table) return;
  setEnd(answer, selected, end, session.table.clamp(moment[end] + by));
  changed();
  player.show(answer.moments[selected][end]);
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
  if (!answer.verdict) return "Mark a moment (I and O), or say that it is not in the video.";
  if (answer.verdict === "unclear" && !answer.reasons.length) return "Say why it is unclear.";
  const unseen = answer.moments.findIndex((moment) => !reviewed.has(textOf(moment)));
  if (session.me.settings.review === "required" && unseen >= 0) return `Review moment ${unseen + 1} first (R).`;
  return "";
}

async function submit() {
  const why = missing();
  if (why) {
    session.announce(why);
    return session.say(why);
  }
  const task = session.task.task;
  byId("submit").disabled = true;
  session.save({ ...answer, submit: true }, true);
  await session.outbox?.empty();
  byId("submit").disabled = false;
  if (session.task?.task !== task) return;
  const feedback = feedbackOf.get(task);
  feedbackOf.delete(task);
  if (feedback) await showFeedback(byId("feedback"), feedback);
  await session.next(task).catch((error) => session.fail(error));
}

/** @type {Map<number, any>} what came back for practice tasks */
const feedbackOf = new Map();

/** @param {{change: any, answer: any}} detail */
function stored({ change, answer: saved }) {
  if (saved.feedback) feedbackOf.set(change.task, saved.feedback);
}

/** @param {{change: any, version: number, answer: any}} detail */
async function conflict({ change, version, answer: theirs }) {
  const mine = answerOf(session.outbox?.newest(change.task)?.body || change.body);
  const choice = await showConflict(byId("conflict"), mine, answerOf(theirs), session.table);
  session.outbox?.drop(change.task);
  if (session.task?.task !== change.task) return;
  session.version = version;
  const chosen = { mine, theirs: answerOf(theirs), both: bothOf(mine, answerOf(theirs)) }[choice];
  answer = answerOf(chosen);
  selected = 0;
  history.add(answer);
  show();
  if (choice !== "theirs") session.save(answer, true);
}

function show() {
  timeline.setSpans(answer.moments, selected);
  showMoments();
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

function showMoments() {
  const list = byId("moments");
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.field : null;
  list.replaceChildren(...answer.moments.map((moment, k) => itemOf(moment, k)));
  if (focused) list.querySelector(`[data-field="${focused}"]`)?.focus();
}

/** @param {{first: number, last: number}} moment @param {number} k */
function itemOf(moment, k) {
  const item = document.createElement("li");
  item.className = k === selected ? "selected" : "";
  const number = document.createElement("span");
  number.className = "number";
  number.textContent = String(k + 1);
  const { table } = session;
  const length = table ? `${(table.end(moment.last) - table.start(moment.first)).toFixed(2)} s` : "";
  const isReviewed = reviewed.has(textOf(moment));
  const state = document.createElement("span");
  state.className = isReviewed ? "good" : "soft";
  state.textContent = isReviewed ? "✓ reviewed" : "not reviewed";
  item.append(number, field(moment, k, "first"), "–", field(moment, k, "last"), length, state, remover(k));
  item.addEventListener("click", () => {
    if (selected !== k) {
      selected = k;
      show();
    }
  });
  return item;
}

/** A time that can be typed: seconds, or 1:02.5. @param {{first: number, last: number}} moment @param {number} k @param {"first" | "last"} end */
function field(moment, k, end) {
  const label = document.createElement("label");
  const input = document.createElement("input");
  input.type = "text";
  input.inputMode = "decimal";
  input.dataset.field = `${k}-${end}`;
  input.setAttribute("aria-label", `${end === "first" ? "start" : "end"} of moment ${k + 1}`);
  const { table } = session;
  if (table) input.value = clock(end === "first" ? table.start(moment.first) : table.end(moment.last));
  input.addEventListener("focus", () => {
    selected = k;
    timeline.setSpans(answer.moments, selected);
  });
  input.addEventListener("change", () => {
    const parts = input.value.trim().split(":").map(Number);
    const time = parts.reduce((sum, part) => 60 * sum + part, 0);
    if (!table || !input.value.trim() || parts.length > 3 || !Number.isFinite(time) || time < 0) {
      session.say("Type a time in seconds, or as 1:02.5.");
      return show();
    }
    const frame = table.frameAt(end === "first" ? time + 0.004 : Math.max(0, time - 0.004));
    setEnd(answer, k, end, frame);
    changed();
    player.show(answer.moments[k][end]);
  });
  label.append(input);
  return label;
}

/** @param {number} k */
function remover(k) {
  const button = document.createElement("button");
  button.textContent = "remove";
  button.dataset.field = `${k}-remove`;
  button.setAttribute("aria-label", `remove moment ${k + 1}`);
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    remove(k);
  });
  return button;
}

timeline.addEventListener("select", (event) => {
  selected = /** @type {CustomEvent} */ (event).detail;
  show();
});
timeline.addEventListener("move", (event) => {
  const { span, end, frame, done } = /** @type {CustomEvent} */ (event).detail;
  if (!answer.moments[span]) return;
  setEnd(answer, span, end, frame);
  player.show(answer.moments[span][/** @type {"first" | "last"} */ (end)]);
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
  { keys: ["<", ">", ";", ":"], text: "10 frames back, on (Shift)", act: (key) => player.step("<;".includes(key) ? -10 : 10) },
  { keys: ["ArrowLeft", "ArrowRight"], text: "1 s back, on", act: (key) => player.jump(key === "ArrowLeft" ? -1 : 1) },
  { keys: ["Shift+ArrowLeft", "Shift+ArrowRight"], text: "5 s back, on", act: (key) => player.jump(key.endsWith("Left") ? -5 : 5) },
  { keys: ["J"], text: "1 s back", act: () => player.jump(-1) },
  { keys: ["L"], text: "faster: 1, 1.5, 2, 4", act: () => faster() },
  { keys: ["[", "]"], text: "start a frame earlier, later", act: (key) => nudge("first", key === "[" ? -1 : 1) },
  { keys: ["{", "}"], text: "end a frame earlier, later", act: (key) => nudge("last", key === "{" ? -1 : 1) },
  { keys: ["Shift+I", "Shift+O"], text: "go to the start, the end", act: (key) => goToEnd(key === "Shift+I" ? "first" : "last") },
  { keys: ["E", "Shift+E"], text: "play 1 s around the start, the end", act: (key) => goToEnd(key === "E" ? "first" : "last", true) },
  { keys: ["N"], text: "another moment here", act: () => another() },
  { keys: ["ArrowUp", "ArrowDown"], text: "previous, next moment", act: (key) => select(key === "ArrowUp" ? -1 : 1) },
  { keys: ["Delete", "Backspace"], text: "remove the moment", act: () => remove(selected) },
  { keys: ["Home", "End"], text: "start, end of the video", act: (key) => player.show(key === "Home" ? 0 : Infinity) },
  { keys: [..."0123456789"], text: "tenths of the video", act: (key) => player.show((Number(key) * (session.table?.count || 0)) / 10) },
  { keys: ["+", "-", "Z"], text: "zoom, fit the moment", act: (key) => zoom(key) },
  { keys: ["Ctrl+Z"], text: "undo", act: () => goTo(history.undo()) },
  { keys: ["Ctrl+Shift+Z", "Ctrl+Y"], text: "redo", act: () => goTo(history.redo()) },
  { keys: ["Alt+ArrowLeft"], text: "the previous task", act: () => session.previous() },
  { keys: ["?"], text: "this table", act: () => keys.show(byId("keys")) },
]);

/** @param {string} key */
function zoom(key) {
  const moment = answer.moments[selected];
  if (key === "Z") return moment && timeline.fit(moment);
  timeline.zoom(key === "+" ? 0.5 : 2);
}

function faster() {
  if (player.isPlaying) session.faster();
  else {
    player.setRate(1);
    player.play();
  }
}

byId("mark-in").addEventListener("click", () => mark("first"));
byId("mark-out").addEventListener("click", () => mark("last"));
byId("another").addEventListener("click", another);
byId("review").addEventListener("click", () => review());
byId("undo").addEventListener("click", () => goTo(history.undo()));
byId("redo").addEventListener("click", () => goTo(history.redo()));
byId("absent").addEventListener("click", () => say("absent"));
byId("unclear").addEventListener("click", () => say("unclear"));
byId("broken").addEventListener("click", () => say("broken"));
byId("submit").addEventListener("click", submit);
byId("help").addEventListener("click", () => keys.show(byId("keys")));
byId("zoom-fit").addEventListener("click", () => zoom("Z"));

session.start();
