// One query: the video, lanes of references, answers and floors on one axis, and a note.

import { RequestError, get, send } from "./api.js";
import { FrameTable, clock } from "./frames.js";
import { Keys } from "./keys.js";
import { axisOf, inRows, place } from "./lanes.js";
import { fixed } from "./moments.js";
import { Overview } from "./overview.js";
import { ROOT, announce, byId, element, printable, problem, wait } from "./page.js";
import { Player } from "./player.js";
import { Strip } from "./strip.js";
import { Timeline } from "./timeline.js";

const n = Number(byId("query").dataset.n);
const list = new URLSearchParams(location.search);
const MARK = "mark-anew";

/** @type {any} */ let about = null;
/** @type {any} */ let query = null;
/** @type {Player | null} */ let player = null;
/** @type {FrameTable | null} */ let table = null;
let whole = 1;
/** @type {{n: number, at: number}[]} */ let beside = [];
/** @type {Strip | null} */ let strip = null;

async function begin() {
  [about, query] = await Promise.all([get("/api/about"), get(`/api/query/${n}`)]);
  whole = axisOf(query);
  const facts = [query.query_id, query.video_id, query.duration_s === null ? "duration unknown" : clock(query.duration_s), query.verb && `verb: ${query.verb}`];
  byId("about").replaceChildren(...facts.filter(Boolean).flatMap((fact, k) => [k ? " · " : "", element("bdi", fact)]));
  showLanes();
  showFacts();
  showNote();
  if (query.v === null) {
    byId("no-video").hidden = false;
    byId("no-video").textContent = query.file === "changed" ? "The file of this video has changed." : "There is no file of this video; --videos DIR names a folder of files.";
  }
  await Promise.all([findNeighbours(), query.v === null ? null : showVideo(), about.has_model ? showStrip() : null]);
}

// ------------------------------------------------------------------------------------------------ lanes

function showLanes() {
  const lanes = [];
  const references = query.references.map((/** @type {number[]} */ moment) => ({ moment, kind: "reference", text: "", title: "reference" }));
  lanes.push(lane("Reference", references));
  const people = [...new Set(query.annotators.map((/** @type {any} */ answer) => answer.annotator))];
  if (people.length > 1) {
    for (const who of people) {
      const own = query.annotators.filter((/** @type {any} */ answer) => answer.annotator === who);
      lanes.push(lane(String(who), own.map((/** @type {any} */ answer) => ({ moment: answer.moment, kind: "person", text: "", title: `annotator ${who}` }))));
    }
  }
  query.systems.forEach((/** @type {any} */ system, /** @type {number} */ k) => {
    const name = about.systems[k].name;
    const answers = system.answers.map((/** @type {number[]} */ [start, end, score, iou], /** @type {number} */ rank) => ({
      moment: [start, end], kind: rank ? "other" : "answer", text: String(rank + 1), isHit: system.rank_of_hit === rank + 1,
      title: `${name}, answer ${rank + 1}, score ${fixed(score, 3)}, IoU ${fixed(iou, 2)}`,
    }));
    lanes.push(lane(name, answers));
  });
  for (const floor of query.floors) {
    const first = floor.answers.slice(0, 1);
    lanes.push(lane(`Floor: ${floor.name}`, first.map((/** @type {number[]} */ [start, end, , iou]) => ({ moment: [start, end], kind: "floor", text: "", title: `${floor.name}, IoU ${fixed(iou, 2)}` }))));
  }
  byId("lanes").replaceChildren(...lanes, ticks());
}

/** @param {string} name @param {any[]} bars moments, the best first: one that would cover another is in a row below */
function lane(name, bars) {
  const row = element("div", "", "lane-row");
  const title = element("span", name, "name");
  title.title = printable(name);
  const box = element("div", "", "bars");
  box.addEventListener("click", (event) => {
    const area = box.getBoundingClientRect();
    if (event.target === box) seek(((event.clientX - area.left) / area.width) * whole);
  });
  const rows = inRows(bars.map((item) => [item.moment[0] / whole, item.moment[1] / whole]));
  box.style.setProperty("--rows", String(1 + Math.max(0, ...rows)));
  bars.forEach((item, k) => {
    const [start, end] = item.moment;
    const words = printable(`${item.title}, ${clock(start)} to ${clock(end)}`);
    const made = element("button", "", `bar ${item.kind} ${item.isHit ? "hit" : ""}`);
    made.setAttribute("aria-label", words);
    made.title = words;
    if (item.text) made.append(element("span", item.isHit ? `${item.text} ✓` : item.text));
    place(made, start / whole, end / whole);
    made.style.setProperty("--row", String(rows[k]));
    made.addEventListener("click", () => playMoment(start, end));
    box.append(made);
  });
  box.append(element("span", "", "head"));
  row.append(title, box);
  return row;
}

function ticks() {
  const row = element("div", "", "lane-row");
  const box = element("div", "", "ticks");
  for (let k = 0; k <= 4; k++) {
    const tick = element("span", clock((k / 4) * whole, 0));
    tick.style.left = `${25 * k}%`;
    box.append(tick);
  }
  row.append(element("span"), box);
  return row;
}

/** @param {number} time */
function placeHeads(time) {
  for (const head of document.querySelectorAll(".lane-row .head")) /** @type {HTMLElement} */ (head).style.left = `${(100 * time) / whole}%`;
}

function showFacts() {
  const lines = query.systems.map((/** @type {any} */ system, /** @type {number} */ k) => {
    const parts = [`: ${system.kind}, IoU ${fixed(system.iou, 2)}`];
    if (system.rank_of_hit > 1) parts.push(`hidden: hit at rank ${system.rank_of_hit}${system.duplicates ? " after repetitions of the first answer" : ""}`);
    if (system.offset_s !== null && system.kind !== "hit") parts.push(`${fixed(Math.abs(system.offset_s), 1)} s ${system.offset_s < 0 ? "early" : "late"}`);
    if (system.mending) parts.push(`correcting it adds ${fixed(100 * system.mending, 3)} points of ${about.measure}`);
    return [element("bdi", about.systems[k].name), parts.join(" · ")];
  });
  for (const floor of query.floors) lines.push([`Floor, ${floor.name}: IoU ${floor.answers.length ? fixed(floor.answers[0][3], 2) : "–"}`]);
  if (query.agreement !== null) lines.push([`Agreement of annotators: mean IoU ${fixed(query.agreement, 2)}`]);
  const verdicts = Object.entries(query.verdicts).map(([verdict, count]) => `${verdict} ${count}`);
  if (verdicts.length) lines.push([`Is this the moment? people say: ${printable(verdicts.join(", "))}`]);
  byId("facts").replaceChildren(...lines.map((/** @type {(string | Node)[]} */ parts) => {
    const item = element("li");
    item.append(...parts);
    return item;
  }));
}

async function showStrip() {
  const made = new Strip(whole, "this sentence");
  strip = made;
  for (;;) {
    const response = await fetch(`${ROOT}/api/query/${n}/strip`, { method: "HEAD" }).catch(() => null);
    if (response?.status !== 503) break;
    await wait(700);
  }
  if (!(await made.load(`${ROOT}/api/query/${n}/strip`))) return;
  made.addEventListener("go", (event) => seek(/** @type {CustomEvent} */ (event).detail));
  byId("strip").append(made.root, made.table());
}

// ------------------------------------------------------------------------------------------------ video

async function showVideo() {
  const { v } = query;
  byId("player").hidden = false;
  for (;;) {
    const video = await get(`/api/videos/${v}`);
    byId("waiting").hidden = true;
    if (video.state === "not playable") {
      problem(`The video cannot be played: ${video.why}.`);
      return;
    }
    if (video.frames) break;
    byId("waiting").hidden = false;
    byId("waiting").textContent = video.state === "preparing" ? `A copy that browsers play is being made (${video.why}).` : "The times of the frames are being read.";
    await wait(500);
  }
  let frames = await get(`/media/${v}/frames.json`);
  table = new FrameTable(frames);
  const times = table;
  const shown = new Player(byId("video"));
  player = shown;
  shown.addEventListener("frame", () => {
    const time = times.start(shown.frame);
    placeHeads(time);
    strip?.place(time);
    timeline.setFrame(shown.frame);
    overview.place();
    byId("place").textContent = `${clock(time)}   frame ${shown.frame} / ${times.count}`;
  });
  shown.addEventListener("state", () => {
    byId("play-sign").textContent = shown.isPlaying ? "❚❚" : "▶";
    byId("play-word").textContent = shown.isPlaying ? "Pause" : "Play";
  });
  shown.addEventListener("broken", () => problem("The browser cannot play this video."));
  const timeline = new Timeline(document.createElement("div"));
  timeline.load(times);
  const overview = new Overview(byId("overview"), timeline, (frame) => shown.show(frame));
  shown.load(`${ROOT}/media/${v}`, times);
  const first = query.references[0];
  if (first) shown.show(times.frameAt(Math.max(0, first[0])));
  while (!frames.strip) {
    await wait(1500);
    frames = await get(`/media/${v}/frames.json`).catch(() => frames);
  }
  byId("overview").hidden = false;
  overview.load(`${ROOT}/media/${v}/strip.jpg`, frames.strip);
}

/** @param {number} time */
function seek(time) {
  if (player && table) player.show(table.frameAt(Math.max(0, time)));
  else placeHeads(time);
}

/** @param {number} start @param {number} end */
function playMoment(start, end) {
  if (!player || !table) return;
  const first = table.frameAt(Math.max(0, start));
  player.playPart(first, Math.max(first, table.frameAt(Math.max(0, end - 1e-6))));
}

// ------------------------------------------------------------------------------- neighbours and notes

async function findNeighbours() {
  if (!list.has("at")) {
    byId("previous").disabled = byId("next").disabled = true;
    return;
  }
  const at = Number(list.get("at"));
  const asked = new URLSearchParams(list);
  asked.delete("at");
  const back = new URLSearchParams(asked);
  if (at >= 100) back.set("offset", String(100 * Math.floor(at / 100)));
  byId("back-to-list").href = `${ROOT}/queries${back.size ? `?${back}` : ""}`;
  asked.set("offset", String(Math.max(0, at - 1)));
  asked.set("limit", "3");
  const page = await get(`/api/queries?${asked}`);
  beside = page.rows.map((/** @type {any} */ row, /** @type {number} */ k) => ({ n: row.n, at: page.offset + k }));
  byId("position").textContent = `${at + 1} of ${page.total.toLocaleString("en")}`;
  byId("previous").disabled = !beside.some((row) => row.at === at - 1);
  byId("next").disabled = !beside.some((row) => row.at === at + 1);
}

/** @param {number} by */
async function go(by) {
  const to = beside.find((row) => row.at === Number(list.get("at")) + by);
  if (!to) {
    announce(by > 0 ? "This is the last query" : "This is the first query");
    return;
  }
  await save();
  list.set("at", String(to.at));
  location.href = `${ROOT}/query/${to.n}?${list}`;
}

function showNote() {
  byId("note").value = query.note;
  byId("tags").value = query.tags.filter((/** @type {string} */ tag) => tag !== MARK).join(", ");
  byId("mark").setAttribute("aria-pressed", String(query.tags.includes(MARK)));
  for (const id of ["note", "tags", "mark"]) byId(id).disabled = Boolean(about.read_only);
  if (about.read_only) byId("saved").textContent = about.read_only;
}

function ownTags() {
  const tags = byId("tags").value.split(",").map((/** @type {string} */ tag) => tag.trim().replace(/\s+/g, "-")).filter(Boolean);
  if (byId("mark").getAttribute("aria-pressed") === "true") tags.push(MARK);
  return [...new Set(tags)];
}

let saving = Promise.resolve();
function save() {
  saving = saving.then(saveNow);
  return saving;
}

async function saveNow() {
  const note = byId("note").value.trim();
  const tags = ownTags();
  if (!query || about.read_only || (note === query.note && tags.join() === query.tags.join())) return;
  byId("saved").textContent = "…";
  try {
    const stored = await send("PUT", `/api/notes/${n}`, { revision: query.revision, note, tags });
    Object.assign(query, stored);
    byId("saved").textContent = "Saved";
  } catch (error) {
    if (error instanceof RequestError && error.status === 409 && error.body?.revision !== undefined) {
      const stored = error.body;
      Object.assign(query, { revision: stored.revision, note: stored.note, tags: stored.tags });
      byId("note").value = [stored.note, note].filter(Boolean).join("\n");
      byId("tags").value = [...new Set([...stored.tags, ...tags])].filter((tag) => tag !== MARK).join(", ");
      byId("mark").setAttribute("aria-pressed", String([...stored.tags, ...tags].includes(MARK)));
      byId("saved").textContent = "Changed in another tab: both notes are here; change or leave the field to save them";
      return;
    }
    byId("saved").textContent = error instanceof Error ? error.message : String(error);
  }
}

function mark() {
  if (about.read_only) return;
  byId("mark").setAttribute("aria-pressed", String(byId("mark").getAttribute("aria-pressed") !== "true"));
  save();
}

const withPlayer = (/** @type {(player: Player) => void} */ act) => () => player && act(player);
const first = (/** @type {number} */ system) => query?.systems[system]?.answers[0];
const keys = new Keys([
  { keys: ["J", "ArrowDown"], text: "next query", act: () => go(1) },
  { keys: ["K", "ArrowUp"], text: "query before", act: () => go(-1) },
  { keys: ["Space"], text: "play, pause", act: withPlayer((player) => player.toggle()) },
  { keys: [",", "."], text: "a frame back, on", act: (key) => player?.step(key === "," ? -1 : 1) },
  { keys: ["ArrowLeft", "ArrowRight"], text: "a second back, on", act: (key) => player?.jump(key === "ArrowLeft" ? -1 : 1) },
  { keys: ["R"], text: "play the reference", act: () => query.references[0] && playMoment(query.references[0][0], query.references[0][1]) },
  { keys: ["1", "2", "3", "4", "5", "6", "7", "8"], text: "play the first answer of a system", act: (key) => first(Number(key) - 1) && playMoment(first(Number(key) - 1)[0], first(Number(key) - 1)[1]) },
  { keys: ["N"], text: "the note", act: () => byId("note").focus() },
  { keys: ["A"], text: "mark anew: hand the query to annotators", act: () => mark() },
  { keys: ["T"], text: "copy query and video", act: () => copy(`${query.query_id} ${query.video_id}`) },
  { keys: ["?"], text: "this table", act: () => keys.show(byId("keys")) },
], () => true);

/** @param {string} text */
function copy(text) {
  navigator.clipboard?.writeText(text).then(() => announce(`copied: ${text}`), () => announce(text));
}

for (const id of ["note", "tags"]) byId(id).addEventListener("change", () => save());
byId("note").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
  if (event.key === "Escape") byId("note").blur();
});
byId("mark").addEventListener("click", () => mark());
byId("copy").addEventListener("click", () => copy(about.command));
byId("previous").addEventListener("click", () => go(-1));
byId("next").addEventListener("click", () => go(1));
byId("play").addEventListener("click", () => player?.toggle());
byId("back").addEventListener("click", () => player?.step(-1));
byId("on").addEventListener("click", () => player?.step(1));
byId("help").addEventListener("click", () => keys.show(byId("keys")));
begin().catch((error) => problem(error.message));
