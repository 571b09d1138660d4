// One query for the owner: the video, and a line for each person.

import { get, send } from "./api.js";
import { decide } from "./decisions.js";
import { button, byId, element, printable } from "./page.js";
import { FrameTable, clock } from "./frames.js";
import { Player } from "./player.js";

const number = location.pathname.split("/").pop();

async function load() {
  const query = await get(`/api/owner/queries/${number}`);
  byId("sentence").textContent = printable(query.sentence);
  const frames = await get(`/media/${query.video}/frames.json`).catch(() => null);
  const table = frames ? new FrameTable(frames) : null;
  const player = table ? playerOf(query.video, table) : null;
  const rows = query.answers.map((/** @type {any} */ answer) => rowOf(answer, table, player));
  byId("answers").tBodies[0].replaceChildren(...rows);
}

/** @param {number} video @param {FrameTable} table */
function playerOf(video, table) {
  const player = new Player(byId("video"));
  player.addEventListener("frame", () => {
    const share = `${(100 * table.middle(player.frame)) / table.duration}%`;
    for (const head of document.querySelectorAll(".bars .playhead")) /** @type {HTMLElement} */ (head).style.left = share;
    byId("place").textContent = `${clock(table.start(player.frame))} · frame ${player.frame} / ${table.count - 1}`;
  });
  player.load(`/media/${video}`, table);
  return player;
}

/** @param {any} entry @param {FrameTable | null} table @param {Player | null} player */
function rowOf(entry, table, player) {
  const row = document.createElement("tr");
  const times = entry.moments.map((/** @type {[number, number]} */ [start, end]) => `${clock(start)} – ${clock(end)}`).join("; ");
  const words = [entry.verdict || "no answer", ...entry.reasons, entry.comment].filter(Boolean).join(", ");
  const state = entry.set_aside ? " (excluded)" : entry.submitted ? "" : " (not submitted)";
  const place = element("td");
  place.append(barsOf(entry, table, player));
  const actions = element("td", "", "buttons");
  if (entry.frames.length && player) {
    actions.append(button("Play", `Play what ${entry.annotator} marked`, () => player.playPart(entry.frames[0][0], entry.frames.at(-1)[1])));
  }
  if (!entry.set_aside && entry.submitted) actions.append(button("Exclude…", `Exclude the answer of ${entry.annotator}`, () => exclude(entry)));
  const answer = element("td");
  answer.append(element("bdi", words), `${times ? `: ${times}` : ""}${state}`);
  row.append(element("td", entry.annotator), answer, place, element("td", String(entry.active_s), "number"), element("td", entry.control), actions);
  return row;
}

/** The moments of an answer on the length of the video, and what a person was shown. @param {any} answer @param {FrameTable | null} table @param {Player | null} player */
function barsOf(answer, table, player) {
  const bars = element("div", "", "bars");
  const whole = table ? table.duration : answer.duration_s || 1;
  for (const [start, end, kind] of [...(answer.shown ? [[...answer.shown, "shown"]] : []), ...answer.moments.map((/** @type {any} */ m) => [...m, "moment"])]) {
    const bar = element("span", "", kind);
    bar.style.left = `${(100 * start) / whole}%`;
    bar.style.width = `${(100 * (end - start)) / whole}%`;
    bar.title = `${clock(start)} – ${clock(end)}`;
    bars.append(bar);
  }
  bars.append(element("span", "", "playhead"));
  bars.addEventListener("click", (event) => {
    const box = bars.getBoundingClientRect();
    if (table && player) player.goTo(table.frameAt(((event.clientX - box.left) / box.width) * table.duration));
  });
  return bars;
}

/** @param {any} answer */
function exclude(answer) {
  decide(byId("ask"), {
    title: `Exclude this answer of ${answer.annotator}?`,
    text: "It stays in answers.jsonl, but not in annotations.jsonl. Your reason is written into the datasheet.",
    yes: "Exclude",
    label: "Reason",
    act: (why) => send("POST", `/api/owner/tasks/${answer.task}/set-aside`, { why }).then(() => location.reload()).catch(fail),
  });
}

/** @param {any} error */
function fail(error) {
  byId("problem").hidden = false;
  byId("problem").textContent = printable(error.message);
}

load().catch(fail);
