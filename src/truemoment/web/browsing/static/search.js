// The search page: a sentence, cards, strips, and what is kept.

import { RequestError, get } from "./api.js";
import { Cards } from "./cards.js";
import { Collection } from "./collection.js";
import { showBar } from "./collection_bar.js";
import { saveClip, showExport } from "./export.js";
import { Keys } from "./keys.js";
import { matchText, spokenTime, timesText } from "./moments.js";
import { ROOT, announce, button, byId, capitalised, element, problem } from "./page.js";
import { Stage } from "./preview.js";
import { QueryPicture, searchPicture } from "./query_picture.js";
import { ShownIndex } from "./shown_index.js";
import { Strips } from "./strips.js";

const SILENCE_MS = 600; // without a key, until one video is searched

const tab = Math.random().toString(36).slice(2, 10);
let turn = 0;
/** @type {any} */ let answer = null;
/** @type {{v: number, start_s: number, end_s: number} | null} */ let like = null;
let picture = ""; // name of the last answer to the picture that is searched for
let isExact = false;

const field = byId("q");
const index = new ShownIndex();
const cards = new Cards(byId("cards"));
const stage = new Stage(byId("video"));
const collection = new Collection();
const chosen = new QueryPicture();
const strips = new Strips(byId("strips-section"), byId("strips"));

/** @param {number} v */
const nameOf = (v) => index.nameOf(v);

async function begin() {
  const known = new URLSearchParams(location.search);
  for (const name of ["top", "apart", "by"]) if (known.has(name)) byId(name).value = known.get(name);
  for (const input of more()) if (known.has(input.name)) input.value = known.get(input.name);
  byId("more").open = more().some((input) => input.value);
  isExact = known.get("exact") === "1";
  const parts = (known.get("like") || "").split(":").map(Number);
  if (parts.length === 3 && parts.every(Number.isFinite)) like = { v: parts[0], start_s: parts[1], end_s: parts[2] };
  if (!field.value) field.value = known.get("q") || ""; // a browser may have kept what was typed
  picture = known.get("picture") || "";
  field.focus();
  collection.addEventListener("change", () => cards.markKept((moment) => Boolean(collection.find(moment))));
  showBar(collection);
  collection.load().catch((error) => problem(error.message));
  say("Loading the model, a few seconds");
  await index.loaded;
  if (known.get("videos")) byId("videos").value = known.get("videos");
  if (!turn && (like || picture || known.get("q"))) search();
  const why = await index.modelLoaded();
  if (why) say(`Sentences cannot be searched: ${why}. Videos, collections and "more like this" work.`);
  else if (!turn) say(`${videosText(index.videos.length)} · ${index.model}`);
  if (!why) byId("examples").append(...index.examples.map((sentence) => button(sentence, "", () => {
    field.value = sentence;
    ask();
  })));
  byId("examples").hidden = Boolean(why || turn || !index.examples.length);
}

/** @param {number} count @returns {string} */
const videosText = (count) => `${count.toLocaleString("en")} ${count === 1 ? "video" : "videos"}`;

/** What precedes the list where no moment stands out; "" for nothing. @param {any} result */
function nothingText(result) {
  if (result.by === "said") return result.moments.length ? "" : "No word of this sentence is said in the videos.";
  if (result.no_word_known) return "Nothing stands out: the model knows no word of this sentence.";
  if (!result.moments.length) return result.nothing_stands_out ? "Nothing stands out." : "No moment fits all that is asked for.";
  if (!result.nothing_stands_out) return "";
  return `Nothing stands out: the best match is ${matchText(result.best_match)}. Either nothing fits, or much fits equally well.`;
}

/** @param {(string | Node)[]} parts */
function say(...parts) {
  byId("state").replaceChildren(...parts);
}

/** The fields behind "More": those of what comes next, of the list, and of the videos. */
const more = () => /** @type {any[]} */ ([...byId("more").querySelectorAll("input, select")]);

function settings() {
  const options = new URLSearchParams({ top: byId("top").value, apart: byId("apart").value, by: byId("by").value });
  if (byId("videos").value) options.set("videos", byId("videos").value);
  for (const input of more()) if (input.value.trim()) options.set(input.name, input.value.trim());
  if (isExact) options.set("exact", "1");
  return options;
}

function keepAddress() {
  const shown = new URLSearchParams();
  if (like) shown.set("like", `${like.v}:${like.start_s}:${like.end_s}`);
  else if (picture) shown.set("picture", picture);
  else if (field.value.trim()) shown.set("q", field.value.trim());
  for (const [name, value] of settings()) shown.set(name, value);
  history.replaceState(null, "", `${ROOT}/?${shown}`);
}

/** Forget the moment or picture, and search. @param {any} moment in their place @param {File | null} file */
function ask(moment = null, file = null) {
  like = moment;
  picture = "";
  if (like || file) field.value = "";
  chosen.show(file ? file.name : "", file);
  return search(file);
}

/** @param {File | null} file @returns {(() => Promise<any>) | null} what is asked; null for nothing */
function question(file) {
  const query = settings();
  query.set("tab", tab);
  query.set("n", String(turn));
  if (file) return () => searchPicture(file, query);
  if (like) for (const [name, value] of [["v", like.v], ["start", like.start_s], ["end", like.end_s]]) query.set(String(name), String(value));
  if (picture) query.set("picture", picture);
  if (like || picture) return () => get(`/api/like?${query}`);
  query.set("q", field.value.trim());
  return field.value.trim() ? () => get(`/api/search?${query}`) : null;
}

/** @param {File | null} file a picture that is searched for the first time */
async function search(file = null) {
  const asked = ++turn;
  if (!like && !picture && !file && !field.value.trim()) return;
  problem("");
  const began = performance.now();
  await index.loaded;
  if (!like && !picture && !index.isReady) {
    say(`Loading the model; the ${file ? "picture" : "sentence"} is searched then`);
    await index.modelLoaded();
  }
  const sent = asked === turn && question(file);
  if (!sent) return;
  if (!file) keepAddress();
  say("Searching");
  try {
    const result = await sent();
    if (asked === turn) show(result, performance.now() - began);
  } catch (error) {
    if (asked !== turn || (error instanceof RequestError && error.body?.superseded)) return;
    say("");
    if (file) chosen.show("");
    problem(error instanceof Error ? error.message : String(error));
  }
}

/** @param {any} result @param {number} ms */
function show(result, ms) {
  answer = result;
  picture = result.picture ? result.search : "";
  chosen.show(result.picture || "");
  if (picture) keepAddress();
  stage.leave();
  const asked = result.like ? `like ${nameOf(result.like.v)} ${timesText(result.like)}` : result.picture ? `like ${result.picture}` : "";
  const closely = result.scored < result.videos ? `${result.scored} looked at closely` : "all looked at closely";
  const like = asked ? [element("bdi", capitalised(asked)), " · "] : [];
  say(...like, [result.videos === 1 ? videosText(1) : `${videosText(result.videos)}, ${closely}`, `${(ms / 1000).toFixed(2)} s`, index.model].filter(Boolean).join(" · "));
  if (result.scored < result.videos) byId("state").append(" ", button("Look at all", "Look at all videos closely", () => {
    isExact = true;
    search();
  }));
  byId("state").append(element("span", ". There always is a best moment. Look before you believe it."));
  const nothing = nothingText(result);
  byId("examples").hidden = true;
  byId("nothing").hidden = !nothing;
  byId("nothing").textContent = nothing;
  byId("notes").replaceChildren(...result.notes.map((/** @type {string} */ line) => element("p", capitalised(line))));
  for (const moment of result.moments) {
    moment.sentence = result.title;
    moment.like = asked || null;
  }
  cards.show(result.moments, { median: result.by === "seen" && !result.moments[0]?.ranks.length ? result.median : 0, best: result.best, nameOf, canKeep: index.isOwner });
  cards.markKept((moment) => Boolean(collection.find(moment)));
  byId("actions").hidden = !result.moments.length;
  byId("export").hidden = !index.isOwner;
  index.showChanged(result.changed);
  strips.show(result.by === "seen" ? result : { moments: [] }, index.videos, (v, time) => openVideo(v, time));
  const best = result.moments[0];
  announce([...result.notes, nothing, best ? `${result.moments.length} moments, the best in ${nameOf(best.v)} at ${spokenTime(best.start_s)}` : "No moment"].filter(Boolean).join(". "));
}

/** @param {number} v @param {number} time @param {any} moment */
function openVideo(v, time, moment = null) {
  const query = new URLSearchParams({ t: time.toFixed(3) });
  if (answer?.like) query.set("like", `${answer.like.v}:${answer.like.start_s}:${answer.like.end_s}`);
  else if (answer?.picture) query.set("picture", answer.search);
  else if (answer?.q) query.set("q", answer.q);
  if (answer) query.set("search", answer.search);
  if (moment) query.set("end", moment.end_s.toFixed(3));
  location.href = `${ROOT}/film/${v}?${query}`;
}

/** @param {any} card @param {boolean} loop */
function play(card, loop = false) {
  card.preview.stop();
  if (stage.screen === card.screen && !loop && !stage.loop) {
    stage.player.toggle();
    return;
  }
  stage.play(card.screen, card.moment, { loop });
}

async function playAll() {
  for (let number = cards.at; number < cards.cards.length; number++) {
    const card = cards.cards[number];
    cards.focus(number);
    card.preview.stop();
    const ended = await new Promise((resolve) => {
      const stop = () => stage.screen !== card.screen && resolve(false);
      stage.play(card.screen, card.moment, { done: () => resolve(true) });
      stage.addEventListener("state", stop);
    });
    if (!ended) return;
  }
}

/** @param {any} moment */
function moreLike(moment) {
  ask({ v: moment.v, start_s: moment.start_s, end_s: moment.end_s });
}

/** @param {string} text */
function copy(text) {
  navigator.clipboard?.writeText(text).then(() => announce(`copied: ${text}`), () => announce(text));
}

const withCard = (/** @type {(card: any) => void} */ act) => () => cards.current && act(cards.current);
const keys = new Keys([
  { keys: ["/"], text: "the search field", act: () => field.select() },
  { keys: ["Enter"], text: "open the video at the chosen moment", act: withCard((card) => openVideo(card.moment.v, card.moment.start_s, card.moment)) },
  { keys: ["Space"], text: "play the chosen moment here, pause", act: withCard((card) => play(card)) },
  { keys: ["R"], text: "play it once", act: withCard((card) => stage.play(card.screen, card.moment)) },
  { keys: ["Shift+R"], text: "play it in a loop", act: withCard((card) => play(card, true)) },
  { keys: ["S"], text: "keep it in the collection; again: take it out", act: withCard((card) => index.isOwner && collection.toggle(card.moment)) },
  { keys: ["M"], text: "more like this", act: withCard((card) => moreLike(card.moment)) },
  { keys: ["F"], text: "only its video; again: all videos", act: withCard((card) => onlyVideo(card.moment.v)) },
  { keys: ["T"], text: "copy video and time", act: withCard((card) => copy(`${nameOf(card.moment.v)} ${timesText(card.moment)}`)) },
  { keys: ["G"], text: "next peak of a strip", act: () => strips.peak(1) },
  { keys: ["Shift+G"], text: "peak before", act: () => strips.peak(-1) },
  { keys: ["P"], text: "play all of the list", act: () => playAll() },
  { keys: ["C"], text: "save its clip", act: withCard((card) => index.isOwner && clip(card.moment)) },
  { keys: ["X"], text: "export", act: () => openExport() },
  { keys: ["Ctrl+Z"], text: "undo the last change of the collection", act: () => collection.undo() },
  { keys: ["Escape"], text: "stop", act: () => stage.leave() },
  { keys: ["?"], text: "this table", act: () => keys.show(byId("keys")) },
], () => true);

/** @param {number} v */
function onlyVideo(v) {
  byId("videos").value = byId("videos").value ? "" : String(v);
  search();
}

/** @param {any} moment */
function clip(moment) {
  say("The clip is cut.");
  saveClip(moment).then(() => say("The clip is saved."), (error) => problem(error.message));
}

function openExport() {
  if (index.isOwner && answer?.moments.length) {
    showExport(byId("exporting"), { moments: answer.moments, count: answer.moments.length });
  }
}

cards.addEventListener("act", (event) => {
  const { name, card } = /** @type {CustomEvent} */ (event).detail;
  if (name === "play") play(card);
  else if (name === "keep") collection.toggle(card.moment);
  else if (name === "clip") clip(card.moment);
  else if (name === "like") moreLike(card.moment);
  else if (name === "open") openVideo(card.moment.v, card.moment.start_s, card.moment);
});
stage.addEventListener("trouble", (event) => problem(/** @type {CustomEvent} */ (event).detail));
stage.addEventListener("waiting", (event) => say(/** @type {CustomEvent} */ (event).detail));
let silence = 0;
field.addEventListener("input", () => {
  like = null;
  picture = "";
  clearTimeout(silence);
  const isOne = index.videos.length === 1 || byId("videos").value;
  if (isOne && index.isReady) silence = setTimeout(ask, SILENCE_MS);
});
byId("ask").addEventListener("submit", (/** @type {Event} */ event) => {
  event.preventDefault();
  clearTimeout(silence);
  (field.value.trim() ? ask() : search()).then(() => answer?.moments.length && document.activeElement === field && cards.focus(0));
});
byId("more").addEventListener("change", () => (answer || field.value) && search());
for (const name of ["videos", "top", "apart", "by"]) byId(name).addEventListener("change", () => (answer || field.value) && search());
chosen.addEventListener("file", (event) => ask(null, /** @type {CustomEvent} */ (event).detail));
chosen.addEventListener("frame", (event) => ask(/** @type {CustomEvent} */ (event).detail));
chosen.addEventListener("clear", () => {
  ask();
  keepAddress();
  field.focus();
});
byId("help").addEventListener("click", () => keys.show(byId("keys")));
byId("play-all").addEventListener("click", () => playAll());
byId("export").addEventListener("click", () => openExport());
begin().catch((error) => problem(error.message));
