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
  const rows = query.answers.map((/** @type {any} */ of) => rowOf(of, table, player));
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

/** @param {any} of @param {FrameTable | null} table @param {Player | null} player */
function rowOf(of, table, player) {
  const row = document.createElement("tr");
  const times = of.moments.map((/** @type {[number, number]} */ [start, end]) => `${clock(start)} – ${clock(end)}`).join("; ");
  const words = [of.verdict || "no answer", ...of.reasons, of.comment].filter(Boolean).join(", ");
  const state = of.set_aside ? " (excluded)" : of.submitted ? "" : " (not submitted)";
  const place = element("td");
  place.append(barsOf(of, table, player));
  const actions = element("td", "", "buttons");
  if (of.frames.length && player) {
    actions.append(button("play", `play what ${of.annotator} marked`, () => player.playPart(of.frames[0][0], of.frames.at(-1)[1])));
  }
  if (!of.set_aside && of.submitted) actions.append(button("exclude…", `exclude the answer of ${of.annotator}`, () => exclude(of)));
  const answer = element("td");
  answer.append(element("bdi", words), `${times ? `: ${times}` : ""}${state}`);
  row.append(element("td", of.annotator), answer, place, element("td", String(of.active_s), "number"), element("td", of.control), actions);
  return row;
}

/** The moments of an answer on the length of the video, and what a person was shown. @param {any} of @param {FrameTable | null} table @param {Player | null} player */
function barsOf(of, table, player) {
  const bars = element("div", "", "bars");
  const whole = table ? table.duration : of.duration_s || 1;
  for (const [start, end, kind] of [...(of.shown ? [[...of.shown, "shown"]] : []), ...of.moments.map((/** @type {any} */ m) => [...m, "moment"])]) {
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

/** @param {any} of */
function exclude(of) {
  decide(byId("ask"), {
    title: `Exclude this answer of ${of.annotator}?`,
    text: "It stays in answers.jsonl, but not in annotations.jsonl. Your reason is written into the datasheet.",
    yes: "Exclude",
    label: "Reason",
    act: (why) => send("POST", `/api/owner/tasks/${of.task}/set-aside`, { why }).then(() => location.reload()).catch(fail),
  });
}

/** @param {any} error */
function fail(error) {
  byId("problem").hidden = false;
  byId("problem").textContent = printable(error.message);
}

load().catch(fail);
