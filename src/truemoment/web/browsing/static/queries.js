// The list of queries: filters, facets with counts, 100 rows a page. The address holds all of it.

import { get } from "./api.js";
import { Keys } from "./keys.js";
import { KINDS, legend, smallBars } from "./lanes.js";
import { fixed, pictureAddress } from "./moments.js";
import { ROOT, announce, byId, capitalised, element, isolated, printable, problem } from "./page.js";

const PAGE = 100;
const RANGES = /** @type {const} */ ([
  ["iou", "IoU of the first answer"], ["length", "Length of the reference, s"], ["share", "Share of the video"],
  ["duration", "Duration, s"], ["n_words", "Number of words"], ["agreement", "Agreement of annotators"],
  ["fits", "Share of verdicts that say it fits"],
]);
const SORTS = /** @type {Record<string, string>} */ ({
  kind: "Kind, then loss", loss: "Loss (1 − IoU)", confidence: "Confidence (score of the first answer)", iou: "IoU of the first answer", best: "Best IoU", rank: "Rank of the hit", offset: "Distance from the reference",
  floor: "IoU of the floor", length: "Length of the reference", share: "Share of the video", duration: "Duration", n_words: "Number of words", agreement: "Agreement", fits: "Verdicts: it fits", id: "Hash of the id",
});

const CONFIDENT = "confident-and-wrong";

/** @type {any} */ let about = null;
/** @type {any} */ let answer = null;
let query = new URLSearchParams(location.search);
let turn = 0;
let at = 0;

const rows = () => /** @type {HTMLElement[]} */ ([...byId("rows").querySelectorAll("a")]);
const offset = () => Number(query.get("offset") || 0);

async function begin() {
  about = await get("/api/about");
  byId("figures").replaceChildren(...figures());
  byId("command").textContent = printable(about.command);
  byId("mark-anew").textContent = printable(about.mark_anew);
  byId("legend").replaceChildren(...legend(about.kinds));
  byId("system").replaceChildren(...about.systems.map((/** @type {any} */ system, /** @type {number} */ k) => new Option(isolated(system.name), String(k))));
  byId("sort").replaceChildren(...about.sorts.filter(isThere).map((/** @type {string} */ name) => new Option(SORTS[name] || name, name)));
  byId("floor").disabled = !about.floors.length;
  byId("range-fields").replaceChildren(...RANGES.filter(([name]) => isThere(name)).map(([name, text]) => rangeField(name, text)));
  byId("rows").classList.toggle("without-pictures", !about.has_videos);
  await load();
}

/** @param {string} column @returns {boolean} whether this data has values of it */
function isThere(column) {
  return { floor: about.floors.length > 0, confidence: about.has_confidence.some(Boolean), agreement: about.has_agreement, fits: about.has_verdicts }[column] ?? true;
}

function figures() {
  const percent = (/** @type {number | null} */ share) => (share === null ? "–" : (100 * share).toFixed(2));
  const systems = about.systems.flatMap((/** @type {any} */ system) => [" · ", element("bdi", system.name), ` ${percent(system.figure)}`]);
  const floors = about.floors.slice(0, 1).map((/** @type {any} */ floor) => ` · floor ${percent(floor.figure)} (${floor.name})`);
  const first = [element("bdi", `${about.dataset}/${about.split}`), ` · ${about.queries.toLocaleString("en")} ${about.queries === 1 ? "query" : "queries"} · ${about.measure}`];
  return [...first, ...systems, ...floors, ` · protocol ${about.protocol}`];
}

/** @param {string} name @param {string} text */
function rangeField(name, text) {
  const label = element("label", text, "range");
  for (const [end, word] of [["low", "from"], ["high", "to"]]) {
    const field = document.createElement("input");
    field.type = "text";
    field.inputMode = "decimal";
    field.id = `${name}-${end}`;
    field.setAttribute("aria-label", `${text}, ${word}`);
    field.addEventListener("change", () => {
      const ends = ["low", "high"].map((end) => byId(`${name}-${end}`).value.trim());
      set(name, ends.some(Boolean) ? ends.join("..") : "");
    });
    label.append(field);
  }
  return label;
}

/** Show in the fields what the address says. */
function fill() {
  for (const name of ["system", "floor", "verb", "tag"]) byId(name).value = query.get(name) || (name === "system" ? "0" : "");
  if (document.activeElement !== byId("words")) byId("words").value = query.get("words") || ""; // not while somebody types
  const sort = query.get("sort") || (query.has("view") ? "-confidence" : "kind");
  byId("sort").value = sort.replace(/^-/, "");
  byId("falling").checked = sort.startsWith("-");
  byId("hidden-hits").checked = query.get("hidden") === "1";
  byId("noted").checked = query.get("noted") === "1";
  byId("confident").setAttribute("aria-pressed", String(query.get("view") === CONFIDENT));
  byId("differ").value = query.has("wrong") ? `${query.get("wrong")}:${query.get("right")}` : "";
  for (const [name] of RANGES) {
    const [low = "", high = ""] = (query.get(name) || "").split("..");
    if (byId(`${name}-low`)) [byId(`${name}-low`).value, byId(`${name}-high`).value] = [low, high];
    if (query.get(name)) byId("ranges").open = true;
  }
}

/** @param {string} name @param {string} value @param {boolean} isKept whether the place in the list is kept */
function set(name, value, isKept = false) {
  if (value) query.set(name, value);
  else query.delete(name);
  if (!isKept) query.delete("offset");
  load();
}

async function load() {
  const asked = ++turn;
  history.replaceState(null, "", `${ROOT}/queries${query.size ? `?${query}` : ""}`);
  const sent = new URLSearchParams(query);
  sent.set("limit", String(PAGE));
  try {
    const page = await get(`/api/queries?${sent}`);
    if (asked !== turn) return;
    answer = page;
  } catch (error) {
    if (asked === turn) problem(error instanceof Error ? error.message : String(error));
    return;
  }
  problem("");
  at = 0;
  showFacets();
  fill();
  byId("rows").replaceChildren(...answer.rows.map(row));
  byId("none").hidden = answer.total > 0;
  byId("none").textContent = isWithoutScores() ? "This file has no scores, so no answer is confident." : "No query passes these filters.";
  const last = answer.offset + answer.rows.length;
  byId("count").textContent = answer.total ? `${answer.offset + 1}–${last} of ${answer.total.toLocaleString("en")}` : "0";
  byId("before").disabled = answer.offset === 0;
  byId("after").disabled = last >= answer.total;
}

/** @returns {boolean} whether the view needs scores that the method does not give */
function isWithoutScores() {
  return query.get("view") === CONFIDENT && !about.has_confidence[Number(query.get("system") || 0)];
}

function showFacets() {
  const { facets } = answer;
  byId("confident").textContent = `Confident and wrong ${facets.views[CONFIDENT].toLocaleString("en")}`;
  byId("confident").title = `First answers with an IoU below ${about.wrong_below}, the highest score first`;
  const chosen = (query.get("kind") || "").split(",").filter(Boolean);
  byId("kinds").replaceChildren(...about.kinds.map((/** @type {string} */ name, /** @type {number} */ k) => {
    const made = /** @type {HTMLButtonElement} */ (element("button"));
    made.type = "button";
    made.append(element("kbd", String(k + 1)), ` ${capitalised(name)} ${facets.kinds[name].toLocaleString("en")}`);
    made.setAttribute("aria-pressed", String(chosen.includes(name)));
    made.title = KINDS[name]?.[0] || "";
    made.addEventListener("click", () => kind(name, true));
    return made;
  }));
  options("floor", [["", "Any"], ["hit", `Hits (${facets.floor.hit ?? 0})`], ["miss", `Misses (${facets.floor.miss ?? 0})`]]);
  options("verb", [["", "Any"], ...named(facets.verbs, query.get("verb"))]);
  options("tag", [["", "Any"], ...named(facets.tags, query.get("tag"))]);
  const systems = about.systems.map((/** @type {any} */ system) => system.name);
  options("differ", [["", "Any"], ...facets.differ.map((/** @type {number[]} */ [wrong, right, count]) => [`${wrong}:${right}`, `${isolated(systems[wrong])} ✗, ${isolated(systems[right])} ✓ (${count})`])]);
  byId("differ").closest("label").hidden = systems.length < 2;
}

/** @param {Record<string, number>} counts @param {string | null} chosen */
function named(counts, chosen) {
  const choices = Object.entries(counts).map(([name, count]) => [name, `${isolated(name)} (${count})`]);
  if (chosen && !(chosen in counts)) choices.push([chosen, `${isolated(chosen)} (0)`]);
  return choices;
}

/** @param {string} id @param {string[][]} choices */
function options(id, choices) {
  byId(id).replaceChildren(...choices.map(([value, text]) => new Option(text, value)));
}

/** @param {any} entry @param {number} number */
function row(entry, number) {
  const item = element("li");
  const link = /** @type {HTMLAnchorElement} */ (element("a", "", "query"));
  const place = new URLSearchParams(query);
  place.set("at", String(answer.offset + number));
  link.href = `${ROOT}/query/${entry.n}?${place}`;
  link.tabIndex = number ? -1 : 0;
  const picture = element("div", "", "picture");
  if (entry.v !== null && entry.references.length) {
    const [start, end] = entry.references[0];
    const image = new Image();
    image.alt = "";
    image.loading = "lazy";
    image.src = pictureAddress({ v: entry.v, start_s: Math.max(0, start), end_s: Math.max(start, end), score: null, match: null }, 160);
    picture.append(image);
  }
  const text = element("div");
  const sentence = element("div", entry.sentence);
  sentence.dir = "auto";
  text.append(sentence, element("span", entry.query_id, "id"));
  for (const tag of entry.tags) text.append(" ", element("span", tag, "tag"));
  if (entry.note) {
    const note = element("div", "Note: ", "soft");
    note.append(element("bdi", entry.note));
    text.append(note);
  }
  link.append(picture, text, smallBars(entry), words(entry));
  link.addEventListener("focus", () => {
    at = number;
    rows().forEach((other, k) => (other.tabIndex = k === number ? 0 : -1));
  });
  item.append(link);
  return item;
}

/** @param {any} entry */
function words(entry) {
  const box = element("div", "", "kind");
  entry.systems.forEach((/** @type {any} */ result, /** @type {number} */ k) => {
    const line = element("div");
    if (entry.systems.length > 1) line.append(element("bdi", about.systems[k].name), ": ");
    line.append(element("span", capitalised(result.kind), "name"), ` IoU ${fixed(result.iou, 2)}`);
    if (result.confidence !== null) line.append(` · score ${fixed(result.confidence, 3)}`);
    if (result.rank_of_hit > 1) line.append(`, hit at rank ${result.rank_of_hit}`);
    box.append(line);
  });
  if (entry.floor) box.append(element("div", `Floor: IoU ${fixed(entry.floor.iou, 2)}`, "soft"));
  return box;
}

/** @param {string} name @param {boolean} isToggled */
function kind(name, isToggled = false) {
  const chosen = (query.get("kind") || "").split(",").filter(Boolean);
  if (!isToggled) set("kind", chosen.length === 1 && chosen[0] === name ? "" : name);
  else set("kind", (chosen.includes(name) ? chosen.filter((kind) => kind !== name) : [...chosen, name]).join(","));
}

/** @param {number} by pages */
function turnPage(by) {
  const next = offset() + by * PAGE;
  if (next < 0 || !answer || next >= answer.total) return;
  query.set("offset", String(next));
  load().then(() => {
    byId("rows").scrollIntoView({ block: "nearest" });
    rows()[0]?.focus();
    announce(byId("count").textContent);
  });
}

/** @param {number} by */
function step(by) {
  const next = document.activeElement?.closest(".query") ? at + by : at;
  if (next < 0 || next >= rows().length) turnPage(by);
  else {
    rows()[next].focus();
    rows()[next].scrollIntoView({ block: "nearest" });
  }
}

function setSort() {
  set("sort", `${byId("falling").checked ? "-" : ""}${byId("sort").value}`);
}

for (const id of ["system", "floor", "verb", "tag"]) byId(id).addEventListener("change", () => set(id, byId(id).value === "0" && id === "system" ? "" : byId(id).value));
byId("words").addEventListener("input", () => {
  clearTimeout(silence);
  silence = setTimeout(() => set("words", byId("words").value.trim()), 250);
});
let silence = 0;
byId("differ").addEventListener("change", () => {
  const [wrong = "", right = ""] = byId("differ").value.split(":");
  query.set("right", right);
  if (!right) query.delete("right");
  set("wrong", wrong);
});
byId("hidden-hits").addEventListener("change", () => set("hidden", byId("hidden-hits").checked ? "1" : ""));
byId("noted").addEventListener("change", () => set("noted", byId("noted").checked ? "1" : ""));
byId("confident").addEventListener("click", () => {
  query.delete("sort"); // the view has its own order
  set("view", query.get("view") === CONFIDENT ? "" : CONFIDENT);
});
for (const id of ["sort", "falling"]) byId(id).addEventListener("change", setSort);
byId("clear").addEventListener("click", () => {
  query = new URLSearchParams();
  load();
});
byId("before").addEventListener("click", () => turnPage(-1));
byId("after").addEventListener("click", () => turnPage(1));
byId("filters").addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
byId("help").addEventListener("click", () => keys.show(byId("keys")));

const keys = new Keys([
  { keys: ["ArrowUp", "ArrowDown"], text: "row before, next", act: (key) => step(key === "ArrowUp" ? -1 : 1) },
  { keys: ["J", "K"], text: "next row, row before", act: (key) => step(key === "K" ? -1 : 1) },
  { keys: ["ArrowLeft", "ArrowRight"], text: "page before, next", act: (key) => turnPage(key === "ArrowLeft" ? -1 : 1) },
  { keys: ["1", "2", "3", "4", "5", "6", "7", "8"], text: "only this kind; again: all", act: (key) => about.kinds[Number(key) - 1] && kind(about.kinds[Number(key) - 1]) },
  { keys: ["/"], text: "the words", act: () => { byId("choices").open = true; byId("words").select(); } },
  { keys: ["?"], text: "this table", act: () => keys.show(byId("keys")) },
], () => true);
byId("choices").open = matchMedia("(min-width: 50rem)").matches; // on a phone the queries come first
begin().catch((error) => problem(error.message));
