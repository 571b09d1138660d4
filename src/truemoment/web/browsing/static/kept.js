// The page of a collection: a table of moments, in an order that people choose, to play and to export.

import { Collection } from "./collection.js";
import { exportCollection, showBar } from "./collection_bar.js";
import { clock } from "./frames.js";
import { Keys } from "./keys.js";
import { fixed, lengthText, pictureAddress, timesText } from "./moments.js";
import { ROOT, announce, button, byId, element, printable, problem } from "./page.js";
import { Stage } from "./preview.js";

const collection = new Collection();
const stage = new Stage(byId("video"));
let at = 0;

const rows = () => /** @type {HTMLElement[]} */ ([...byId("rows").rows]);
const current = () => collection.moments[at];

async function begin() {
  showBar(collection);
  byId("collection").addEventListener("change", () => (location.href = `${ROOT}/collection/${encodeURIComponent(byId("collection").value)}`));
  collection.addEventListener("change", show);
  await collection.load(byId("kept").dataset.name);
}

function show() {
  if (collection.name !== byId("kept").dataset.name) {
    location.href = `${ROOT}/collection/${encodeURIComponent(collection.name)}`;
    return;
  }
  const hadFocus = byId("rows").contains(document.activeElement) && document.activeElement?.tagName === "TR";
  const { moments } = collection;
  at = Math.max(0, Math.min(at, moments.length - 1));
  byId("rows").replaceChildren(...moments.map(row));
  byId("none").hidden = moments.length > 0;
  byId("table").hidden = !moments.length;
  const total = moments.reduce((sum, moment) => sum + moment.end_s - moment.start_s, 0);
  byId("total").textContent = moments.length ? `${moments.length} ${moments.length === 1 ? "moment" : "moments"}, ${clock(total, 0)} in all` : "";
  for (const id of ["play-all", "export"]) byId(id).disabled = !moments.length;
  byId("undo").disabled = !collection.past.length;
  if (hadFocus) rows()[at]?.focus();
}

/** @param {import("./moments.js").Moment} moment @param {number} number */
function row(moment, number) {
  const made = element("tr", "", moment.file === "here" ? "" : "stale");
  made.tabIndex = number === at ? 0 : -1;
  made.draggable = !collection.readOnly;
  made.setAttribute("aria-label", printable(`${number + 1}, ${moment.video_id}, ${timesText(moment)}`));
  const picture = element("td");
  if (moment.file === "here") {
    const image = new Image();
    image.alt = "";
    image.loading = "lazy";
    image.src = pictureAddress(moment, 160);
    picture.append(image);
  } else picture.textContent = moment.file === "changed" ? "The video was changed" : "The video is gone";
  const video = element("td", String(moment.video_id));
  video.dir = "auto";
  const sentence = element("td", moment.sentence || moment.like || "");
  sentence.dir = "auto";
  const note = element("td");
  const field = document.createElement("input");
  field.type = "text";
  field.value = moment.note || "";
  field.disabled = Boolean(collection.readOnly);
  field.setAttribute("aria-label", `Note on moment ${number + 1}`);
  field.addEventListener("change", () => collection.update(String(moment.id), { note: field.value }));
  note.append(field);
  const actions = element("td", "", "move");
  if (moment.file === "here") actions.append(button("▶", `Play moment ${number + 1}`, () => play(number)));
  if (!collection.readOnly) {
    actions.append(
      button("↑", `Move moment ${number + 1} up`, () => move(number, -1)),
      button("↓", `Move moment ${number + 1} down`, () => move(number, 1)),
      button("×", `Take out moment ${number + 1}`, () => collection.remove(String(moment.id))),
    );
  }
  made.append(picture, video, element("td", clock(moment.start_s)), element("td", clock(moment.end_s)), element("td", lengthText(moment), "number"), sentence, element("td", fixed(moment.score, 3), "number"), note, actions);
  made.addEventListener("focus", () => choose(number));
  made.addEventListener("dragstart", (event) => event.dataTransfer?.setData("text/plain", String(number)));
  made.addEventListener("dragover", (event) => event.preventDefault());
  made.addEventListener("drop", (event) => {
    event.preventDefault();
    const from = Number(event.dataTransfer?.getData("text/plain"));
    if (Number.isInteger(from) && from !== number) move(from, number - from);
  });
  return made;
}

/** @param {number} number */
function choose(number) {
  at = number;
  rows().forEach((row, k) => (row.tabIndex = k === number ? 0 : -1));
}

/** @param {number} number @param {number} by */
function move(number, by) {
  at = Math.max(0, Math.min(collection.moments.length - 1, number + by));
  collection.move(String(collection.moments[number].id), by);
  rows()[at]?.focus();
  announce(`moved to place ${at + 1}`);
}

/** @param {number} number @param {() => void} done */
function play(number, done = () => {}) {
  const moment = collection.moments[number];
  if (!moment || moment.file !== "here") {
    done();
    return;
  }
  rows().forEach((row, k) => row.classList.toggle("playing", k === number));
  byId("screen").hidden = false;
  stage.play(byId("screen"), moment, { done });
}

/** @param {number} from */
function playAll(from = 0) {
  if (from >= collection.moments.length) return;
  play(from, () => playAll(from + 1));
}

/** @param {number} by */
function step(by) {
  rows()[Math.max(0, Math.min(collection.moments.length - 1, at + by))]?.focus();
}

const keys = new Keys([
  { keys: ["ArrowUp", "ArrowDown"], text: "row before, next", act: (key) => step(key === "ArrowUp" ? -1 : 1) },
  { keys: ["Alt+ArrowUp", "Alt+ArrowDown"], text: "move the row up, down", act: (key) => current() && move(at, key === "Alt+ArrowUp" ? -1 : 1) },
  { keys: ["Space"], text: "play the row, pause", act: () => (stage.moment === current() ? stage.player.toggle() : play(at)) },
  { keys: ["S", "Delete"], text: "take the row out", act: () => current() && collection.remove(String(current().id)) },
  { keys: ["P"], text: "play all", act: () => playAll() },
  { keys: ["X"], text: "export", act: () => exportCollection(collection) },
  { keys: ["Ctrl+Z"], text: "undo", act: () => collection.undo() },
  { keys: ["Escape"], text: "stop", act: () => stage.leave() },
  { keys: ["?"], text: "this table", act: () => keys.show(byId("keys")) },
], () => true);

stage.addEventListener("trouble", (event) => problem(/** @type {CustomEvent} */ (event).detail));
byId("play-all").addEventListener("click", () => playAll());
byId("export").addEventListener("click", () => exportCollection(collection));
byId("undo").addEventListener("click", () => collection.undo());
byId("help").addEventListener("click", () => keys.show(byId("keys")));
begin().catch((error) => problem(error.message));
