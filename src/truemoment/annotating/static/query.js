// One query for the owner: the video, and a line for each person.

import { get, send } from "./api.js";
import { FrameTable, clock } from "./frames.js";
import { Player } from "./player.js";
import { Timeline } from "./timeline.js";

/** @param {string} id @returns {any} */
const byId = (id) => document.getElementById(id);
const number = location.pathname.split("/").pop();

/** @param {string} text @param {string} kind */
function cell(text, kind = "") {
  const made = document.createElement("td");
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

async function load() {
  const query = await get(`/api/owner/queries/${number}`);
  byId("sentence").textContent = query.sentence;
  const frames = await get(`/media/${query.video}/frames.json`).catch(() => null);
  const table = frames ? new FrameTable(frames) : null;
  /** @type {Player | null} */
  let player = null;
  if (table) {
    const shown = new Player(byId("video"));
    player = shown;
    const timeline = new Timeline(byId("timeline"));
    timeline.isFixed = true;
    timeline.load(table);
    shown.load(`/media/${query.video}`, table);
    shown.addEventListener("frame", () => {
      timeline.setFrame(shown.frame);
      byId("place").textContent = `${clock(table.start(shown.frame))}   frame ${shown.frame}`;
    });
    timeline.addEventListener("seek", (event) => shown.show(/** @type {CustomEvent} */ (event).detail));
  }
  const rows = query.answers.map((/** @type {any} */ of) => rowOf(of, table, player));
  byId("answers").tBodies[0].replaceChildren(...rows);
}

/** @param {any} of @param {FrameTable | null} table @param {Player | null} player */
function rowOf(of, table, player) {
  const row = document.createElement("tr");
  const bars = document.createElement("div");
  bars.className = "bars";
  for (const [start, end] of of.moments) {
    const bar = document.createElement("span");
    const whole = table ? table.duration : of.duration_s || end;
    bar.style.left = `${(100 * start) / whole}%`;
    bar.style.width = `${(100 * (end - start)) / whole}%`;
    bar.title = `${clock(start)} – ${clock(end)}`;
    bars.append(bar);
  }
  const times = of.moments.map(([start, end]) => `${clock(start)} – ${clock(end)}`).join("; ");
  const words = [of.verdict, ...of.reasons, of.comment].filter(Boolean).join(", ");
  const state = of.set_aside ? " (set aside)" : of.submitted ? "" : " (not submitted)";
  const place = document.createElement("td");
  place.append(bars);
  const actions = document.createElement("td");
  if (of.frames.length && player) {
    actions.append(button("play", `play what ${of.annotator} marked`, () => player.playPart(...of.frames[0])));
  }
  if (!of.set_aside && of.submitted) {
    actions.append(button("set aside", `set aside the answer of ${of.annotator}`, async () => {
      await send("POST", `/api/owner/tasks/${of.task}/set-aside`, { why: "" });
      location.reload();
    }));
  }
  row.append(cell(of.annotator), cell(`${words} ${times}${state}`), place, cell(String(of.active_s), "number"), cell(of.control), actions);
  return row;
}

/** @param {string} text @param {string} label @param {() => void} act */
function button(text, label, act) {
  const made = document.createElement("button");
  made.textContent = text;
  made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  return made;
}

load().catch((error) => {
  byId("problem").hidden = false;
  byId("problem").textContent = error.message;
});
