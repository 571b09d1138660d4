// The page of a video: the video, the strip of the sentence, what was found, and a moment whose ends are moved.

import { RequestError, get } from "./api.js";
import { Collection } from "./collection.js";
import { showBar } from "./collection_bar.js";
import { showExport } from "./export.js";
import { FrameTable, clock } from "./frames.js";
import { Keys } from "./keys.js";
import { fixed, longClock, matchText, pictureAddress, scoreText, timesText } from "./moments.js";
import { Overview } from "./overview.js";
import { ROOT, announce, button, byId, element, printable, problem, wait } from "./page.js";
import { Player } from "./player.js";
import { Strip } from "./strip.js";
import { Timeline, spanText } from "./timeline.js";
import { History } from "./undo.js";

const about = byId("about").dataset;
const v = Number(about.v);
const query = new URLSearchParams(location.search);
const LIKE = query.has("like") ? "like another moment" : query.has("picture") ? "like a picture" : null;
const player = new Player(byId("video"));
const timeline = new Timeline(byId("timeline"));
const overview = new Overview(byId("overview"), timeline, (frame) => player.show(frame));
const strip = new Strip(Number(about.duration), String(about.name));
const collection = new Collection();

/** @type {FrameTable | null} */ let table = null;
/** @type {any} */ let answer = null;
/** @type {any[]} */ let moments = [];
/** @type {{first: number, last: number} | null} */ let ends = null;
/** @type {History<any>} */ let past = new History(null);
let scores = { before: "", now: "" };
/** @type {{score: number | null, match: number | null}} */ let score = { score: null, match: null };

async function begin() {
  const back = new URLSearchParams();
  for (const name of ["q", "like", "picture"]) if (query.has(name)) back.set(name, String(query.get(name)));
  byId("back-to-list").href = `${ROOT}/?${back}`;
  byId("sentence").textContent = printable(query.get("q") || LIKE || "");
  byId("strip").append(strip.root);
  showBar(collection);
  collection.addEventListener("change", showKept);
  await Promise.all([collection.load(), showVideo(), showFound()]);
}

async function showVideo() {
  for (;;) {
    const video = await get(`/api/videos/${v}`);
    byId("waiting").hidden = true;
    if (video.state === "not playable") {
      problem(`The video cannot be played: ${video.why}. Pictures and export work.`);
      return;
    }
    if (video.frames) break;
    byId("waiting").hidden = false;
    byId("waiting").textContent = video.state === "preparing" ? `A copy that browsers play is being made (${video.why}).` : "The times of the frames are being read.";
    await wait(700);
  }
  const frames = await get(`/media/${v}/frames.json`);
  table = new FrameTable(frames);
  timeline.load(table);
  player.load(`${ROOT}/media/${v}`, table);
  const start = Math.max(0, Number(query.get("t")) || 0);
  player.show(table.frameAt(start));
  if (query.has("end")) {
    const last = table.frameAt(Math.max(start, Number(query.get("end")) - 1e-6));
    ends = { first: table.frameAt(start), last: Math.max(last, table.frameAt(start)) };
    past = new History(ends);
    await showScore();
    timeline.fit(ends);
  }
  drawSpans();
  showPictures(frames);
}

/** Small pictures and sound come when they are made. @param {any} frames */
async function showPictures(frames) {
  while (!frames.strip) {
    await wait(1500);
    frames = await get(`/media/${v}/frames.json`).catch(() => frames);
  }
  overview.load(`${ROOT}/media/${v}/strip.jpg`, frames.strip);
  if (frames.has_peaks) {
    const response = await fetch(`${ROOT}/media/${v}/peaks.bin`);
    if (response.ok) timeline.setPeaks(new Uint8Array(await response.arrayBuffer()));
  }
}

async function showFound() {
  const asked = new URLSearchParams({ top: "12" });
  let path = "/api/search";
  if (query.has("like")) {
    const [video, start, end] = String(query.get("like")).split(":");
    path = "/api/like";
    asked.set("v", video);
    asked.set("start", start);
    asked.set("end", end);
  } else if (query.has("picture")) {
    path = "/api/like";
    asked.set("picture", String(query.get("picture")));
  } else if (query.get("q")) asked.set("q", String(query.get("q")));
  else return;
  asked.set("videos", String(v));
  while (!answer) {
    try {
      answer = await get(`${path}?${asked}`);
    } catch (error) {
      if (!(error instanceof RequestError) || error.status !== 503) throw error;
      await wait(700);
    }
  }
  moments = answer.moments;
  await strip.load(`${ROOT}/api/strip/${encodeURIComponent(answer.search)}/${v}`);
  byId("strip").append(strip.table());
  byId("found-title").hidden = !moments.length;
  byId("found").replaceChildren(...moments.map((moment, number) => {
    const item = element("li");
    const image = new Image();
    image.alt = "";
    image.loading = "lazy";
    image.src = pictureAddress(moment, 160);
    const act = button("", `moment ${number + 1}, ${timesText(moment)}, ${scoreText(moment)}`, () => choose(moment));
    act.append(image, element("span", `${number + 1}  ${longClock(moment.start_s)}`), element("span", fixed(moment.score, 3), "soft"));
    item.append(act);
    return item;
  }));
  drawSpans();
}

/** @param {any} moment */
function choose(moment) {
  if (!table) return;
  const first = table.frameAt(moment.start_s);
  setEnds({ first, last: Math.max(first, table.frameAt(moment.end_s - 1e-6)) });
  player.show(first);
  timeline.fit(/** @type {any} */ (ends));
}

function drawSpans() {
  if (!table) return;
  const times = table;
  const fixedSpans = moments.map((moment, number) => ({
    first: times.frameAt(moment.start_s), last: Math.max(times.frameAt(moment.start_s), times.frameAt(moment.end_s - 1e-6)), label: String(number + 1), kind: "found-here", isFixed: true,
  }));
  timeline.setSpans(ends ? [{ ...ends, label: "" }, ...fixedSpans] : fixedSpans, ends ? 0 : -1);
  showEnds();
}

function showEnds() {
  const text = ends && table ? spanText(table, ends) : "I and O set the start and the end of a moment.";
  const change = scores.before && scores.now !== scores.before ? `${scores.before} → ${scores.now}` : scores.now;
  byId("ends").textContent = [text, change].filter(Boolean).join(" · ");
  for (const id of ["review", "keep", "export"]) byId(id).disabled = !ends;
  showKept();
}

/** @param {any} next @param {boolean} isStep whether it can be undone */
function setEnds(next, isStep = true) {
  ends = next;
  if (isStep) past.add(ends);
  drawSpans();
  clearTimeout(asking);
  asking = setTimeout(showScore, 120);
}

let asking = 0;

async function showScore() {
  if (!ends || !table || !(query.get("q") || LIKE)) return;
  const moment = current();
  const asked = new URLSearchParams({ v: String(v), start: String(moment.start_s), end: String(moment.end_s) });
  for (const name of ["search", "q", "like", "picture"]) if (query.has(name)) asked.set(name, String(query.get(name)));
  const measured = await get(`/api/score?${asked}`).catch(() => null);
  if (!measured) return;
  score = { score: measured.score, match: measured.match };
  const text = `score ${fixed(measured.score, 3)}, match ${matchText(measured.match)}${measured.shorter_than_a_row ? ", shorter than a row" : ""}`;
  scores = { before: scores.before || text, now: text };
  showEnds();
  announce(text);
}

/** @returns {any} the moment between the ends */
function current() {
  if (!ends || !table) return null;
  return {
    v, start_s: table.start(ends.first), end_s: table.end(ends.last), sentence: query.get("q") || "",
    like: LIKE, ...score,
  };
}

/** @param {"first" | "last"} end @param {number} frame */
function setEnd(end, frame) {
  if (!table) return;
  const other = ends ? ends[end === "first" ? "last" : "first"] : frame;
  const next = { first: other, last: other, [end]: table.clamp(frame) };
  if (next.first > next.last) next[end === "first" ? "last" : "first"] = next[end];
  setEnds(next);
}

function showKept() {
  const moment = current();
  const isKept = Boolean(moment && collection.find(moment));
  byId("keep").setAttribute("aria-pressed", String(isKept));
  byId("keep-word").textContent = isKept ? "Kept" : "Keep";
}

player.addEventListener("frame", () => {
  if (!table) return;
  timeline.setFrame(player.frame);
  overview.place();
  strip.place(table.start(player.frame));
  byId("place").textContent = `${clock(table.start(player.frame))}   frame ${player.frame} / ${table.count}`;
});
player.addEventListener("state", () => {
  byId("play-sign").textContent = player.isPlaying ? "❚❚" : "▶";
  byId("play-word").textContent = player.isPlaying ? "Pause" : "Play";
});
player.addEventListener("broken", () => problem("The browser cannot play this video. Pictures and export work."));
timeline.addEventListener("seek", (event) => player.show(/** @type {CustomEvent} */ (event).detail));
timeline.addEventListener("move", (event) => {
  const { end, frame, done } = /** @type {CustomEvent} */ (event).detail;
  if (!ends) return;
  const next = { ...ends, [end]: end === "first" ? Math.min(frame, ends.last) : Math.max(frame, ends.first) };
  player.show(next[end]);
  setEnds(next, done);
});
strip.addEventListener("go", (event) => table && player.show(table.frameAt(/** @type {CustomEvent} */ (event).detail)));

/** @param {(at: any) => void} act */
const withEnds = (act) => () => ends && act(ends);
const keys = new Keys([
  { keys: ["Space"], text: "play, pause", act: () => player.toggle() },
  { keys: [",", "."], text: "a frame back, on", act: (key) => player.step(key === "," ? -1 : 1) },
  { keys: ["<", ">"], text: "10 frames back, on", act: (key) => player.step(key === "<" ? -10 : 10) },
  { keys: ["ArrowLeft", "ArrowRight"], text: "a second back, on", act: (key) => player.jump(key === "ArrowLeft" ? -1 : 1) },
  { keys: ["I"], text: "the moment starts here", act: () => setEnd("first", player.frame) },
  { keys: ["O"], text: "the moment ends here", act: () => setEnd("last", player.frame) },
  { keys: ["[", "]"], text: "start a frame earlier, later", act: withEnds(() => {}) },
  { keys: ["{", "}"], text: "end a frame earlier, later", act: withEnds(() => {}) },
  { keys: ["R"], text: "play the moment once", act: withEnds((at) => player.playPart(at.first, at.last)) },
  { keys: ["Shift+R"], text: "play it in a loop", act: withEnds((at) => player.playPart(at.first, at.last, { loop: true })) },
  { keys: ["S"], text: "keep the moment; again: take it out", act: withEnds(() => collection.toggle(current())) },
  { keys: ["M"], text: "more like this moment, or like the frame that is shown", act: () => moreLike() },
  { keys: ["T"], text: "copy video and time", act: () => copyTime() },
  { keys: ["G"], text: "next peak of the strip", act: () => peak(1) },
  { keys: ["Shift+G"], text: "peak before", act: () => peak(-1) },
  { keys: ["X"], text: "export", act: withEnds(() => showExport(byId("exporting"), { moments: [current()], count: 1 })) },
  { keys: ["Z"], text: "fit the moment", act: withEnds((at) => timeline.fit(at)) },
  { keys: ["Ctrl+Z"], text: "undo", act: () => undo() },
  { keys: ["?"], text: "this table", act: () => keys.show(byId("keys")) },
], () => true);
keys.actions[6].act = (key) => ends && setEnd("first", Math.min(ends.last, ends.first + (key === "[" ? -1 : 1)));
keys.actions[7].act = (key) => ends && setEnd("last", Math.max(ends.first, ends.last + (key === "{" ? -1 : 1)));

function undo() {
  const before = past.past.length ? past.undo() : null;
  if (before) setEnds(before, false);
  else collection.undo();
}

function moreLike() {
  if (!table) return;
  const moment = current() || { start_s: table.start(player.frame), end_s: table.end(player.frame) };
  location.href = `${ROOT}/?${new URLSearchParams({ like: `${v}:${moment.start_s}:${moment.end_s}` })}`;
}

function copyTime() {
  const text = `${about.name} ${ends ? timesText(current()) : longClock(table ? table.start(player.frame) : 0)}`;
  navigator.clipboard?.writeText(text).then(() => announce(`copied: ${text}`), () => announce(text));
}

/** @param {number} by */
function peak(by) {
  if (!strip.nextPeak(by) || !table) announce("no further peak");
  else player.show(table.frameAt(strip.time));
}

for (const [id, act] of /** @type {[string, () => void][]} */ ([
  ["play", () => player.toggle()], ["back", () => player.step(-1)], ["on", () => player.step(1)],
  ["zoom-in", () => timeline.zoom(0.5)], ["zoom-out", () => timeline.zoom(2)],
  ["zoom-fit", () => (ends ? timeline.fit(ends) : timeline.setWindow(0, Number(about.duration)))],
  ["mark-in", () => setEnd("first", player.frame)], ["mark-out", () => setEnd("last", player.frame)],
  ["review", withEnds((at) => player.playPart(at.first, at.last))], ["keep", withEnds(() => collection.toggle(current()))],
  ["like", () => moreLike()], ["export", withEnds(() => showExport(byId("exporting"), { moments: [current()], count: 1 }))],
  ["help", () => keys.show(byId("keys"))],
])) byId(id).addEventListener("click", act);
showEnds();
begin().catch((error) => problem(error.message));
