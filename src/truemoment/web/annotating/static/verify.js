// The page on which a person judges whether a sentence fits a moment.

import { answerOf, emptyAnswer } from "./answer.js";
import { byId } from "./page.js";
import { Keys } from "./keys.js";
import { hint } from "./messages.js";
import { showReasons } from "./reasons.js";
import { Session } from "./session.js";

const AROUND_S = 2;
const REASONS = {
  partly: ["starts too early", "starts too late", "ends too early", "ends too late", "only part of the sentence"],
  unclear: ["ambiguous", "not visible", "only heard", "other"],
};

let answer = emptyAnswer();
let isPlayed = false;

const session = new Session({ load, take });
const { player, timeline } = session;

function shown() {
  const [start, end] = session.task.shown;
  const table = session.table;
  const first = table ? table.frameAt(start) : 0;
  return { first, last: table ? Math.max(first, table.frameAt(Math.max(start, end - 1e-6))) : 0, label: "" };
}

function load() {
  answer = answerOf(session.task.answer);
  isPlayed = session.task.state !== "open";
  timeline.isFixed = true;
  show();
  const span = shown();
  if (session.table) timeline.setWindow(session.table.start(span.first) - 4, session.table.end(span.last) + 4);
  play();
}

/** @param {import("./answer.js").Answer} other an answer in place of the one that is shown */
function take(other) {
  answer = other;
  show();
}

/** Play the moment with 2 s around it. */
function play() {
  const { table } = session;
  if (!table) return;
  const span = shown();
  const first = table.frameAt(Math.max(0, table.start(span.first) - AROUND_S));
  const last = table.frameAt(Math.min(table.duration, table.end(span.last) + AROUND_S));
  player.playPart(first, last, {
    done: () => {
      isPlayed = true;
      show();
    },
  });
}

/** @param {string} verdict */
function say(verdict) {
  answer.verdict = answer.verdict === verdict ? "" : verdict;
  answer.reasons = [];
  changed();
}

function changed() {
  hint("");
  show();
  session.save(answer);
}

function missing() {
  if (!answer.verdict) return "Choose an answer.";
  if (!isPlayed && answer.verdict !== "broken") return "Play the moment to its end first (0).";
  if (["partly", "unclear"].includes(answer.verdict) && !answer.reasons.length) return "Choose at least one reason.";
  return "";
}

function submit() {
  if (!session.isReady) return;
  const why = missing();
  if (why) return hint(why);
  session.submit(answer);
}

function show() {
  timeline.setSpans([shown()], 0);
  for (const button of document.querySelectorAll("[data-verdict]")) {
    const isChosen = /** @type {HTMLElement} */ (button).dataset.verdict === answer.verdict;
    button.setAttribute("aria-pressed", String(isChosen));
  }
  const reasons = REASONS[/** @type {keyof typeof REASONS} */ (answer.verdict)];
  showReasons(reasons || answer.verdict === "broken" ? answer : null, reasons || [], changed);
}

const VERDICTS = ["fits", "partly", "no fit", "unclear", "broken"];

const keys = new Keys([
  { keys: ["0"], text: "play the moment again", act: () => play() },
  { keys: ["1", "2", "3", "4", "5"], text: "fits, partly, does not fit, unclear, does not play", act: (key) => say(VERDICTS[Number(key) - 1]) },
  { keys: ["Ctrl+Enter"], text: "submit and next", act: () => submit() },
  { keys: ["Space", "K"], text: "play, pause", act: () => player.toggle() },
  { keys: [",", "."], text: "a frame back, on", act: (key) => player.step(key === "," ? -1 : 1) },
  { keys: ["ArrowLeft", "ArrowRight"], text: "1 s back, on", act: (key) => player.jump(key === "ArrowLeft" ? -1 : 1) },
  { keys: ["+", "-"], text: "zoom", act: (key) => timeline.zoom(key === "+" ? 0.5 : 2) },
  { keys: ["Alt+ArrowLeft"], text: "the previous task", act: () => session.previous(), always: true },
  { keys: ["?"], text: "this table", act: () => keys.show(byId("keys")), always: true },
], () => session.isReady);

for (const button of document.querySelectorAll("[data-verdict]")) {
  button.addEventListener("click", () => say(/** @type {HTMLElement} */ (button).dataset.verdict || ""));
}
byId("again").addEventListener("click", play);
byId("submit").addEventListener("click", submit);
byId("help").addEventListener("click", () => keys.show(byId("keys")));
byId("zoom-fit").addEventListener("click", () => timeline.fit(shown()));

session.start();
