// The results of a folder: cards by kind and words, audits and comparisons. The address holds kind and words.

import { get, send } from "./api.js";
import { announce, button, byId, capitalised, element, isolated, problem, wait } from "./page.js";

const PAGE = 60;
const MOST = 200;
const POLL_MS = 700;

let query = new URLSearchParams(location.search);
let shown = PAGE;
let turn = 0;
let isPolling = false;
let last = "";
/** @type {string[]} */ let chosen = [];

// ------------------------------------------------------------------------------------------------ cards

async function load() {
  const asked = ++turn;
  history.replaceState(null, "", query.size ? `/?${query}` : "/");
  for (;;) {
    let answer;
    try {
      answer = await pages();
    } catch (error) {
      if (asked === turn) problem(error instanceof Error ? error.message : String(error));
      return;
    }
    if (asked !== turn) return;
    problem("");
    show(answer);
    if (!answer.waiting) return;
    await wait(POLL_MS);
    if (asked !== turn) return;
  }
}

/** Get as many cards as are shown, some hundreds a request. */
async function pages() {
  let answer = null;
  do {
    const sent = new URLSearchParams(query);
    sent.set("offset", String(answer?.cards.length || 0));
    sent.set("limit", String(Math.min(MOST, shown - (answer?.cards.length || 0))));
    const next = await get(`/api/cards?${sent}`);
    answer = { ...next, cards: [...(answer?.cards || []), ...next.cards] };
    if (!next.cards.length) break;
  } while (answer.cards.length < Math.min(shown, answer.total));
  return answer;
}

/** @param {any} answer */
function show(answer) {
  const text = JSON.stringify(answer);
  if (text === last) return;
  last = text;
  const active = document.activeElement;
  const focused = active?.closest("[data-key]");
  const at = focused ? [...focused.querySelectorAll("a, button")].indexOf(/** @type {Element} */ (active)) : -1;
  byId("cards").replaceChildren(...answer.cards.map(card));
  if (focused) /** @type {HTMLElement | undefined} */ (document.querySelectorAll(`[data-key="${focused.getAttribute("data-key")}"] :is(a, button)`)[at])?.focus();
  const all = answer.kinds.reduce((/** @type {number} */ sum, /** @type {any} */ entry) => sum + entry.count, 0);
  byId("kinds").replaceChildren(chip("", "All", all), ...answer.kinds.map((/** @type {any} */ entry) => chip(entry.kind, entry.title, entry.count)));
  const reading = answer.waiting ? ` · ${answer.waiting.toLocaleString("en")} files are not read yet` : "";
  const cut = answer.is_whole ? "" : " · the folder has more files than are listed";
  byId("count").textContent = `${answer.total.toLocaleString("en")} ${answer.total === 1 ? "result" : "results"}${reading}${cut}`;
  byId("none").hidden = answer.total > 0 || answer.waiting > 0;
  byId("none").textContent = query.get("q") ? "Nothing here has these words." : "There are no files in this folder.";
  byId("more").hidden = answer.cards.length >= answer.total;
  const predictions = answer.kinds.find((/** @type {any} */ entry) => entry.kind === "predictions");
  byId("compare").hidden = !predictions || predictions.count < 2;
}

/** @param {string} kind @param {string} title @param {number} count */
function chip(kind, title, count) {
  const made = button(`${capitalised(title)} ${count.toLocaleString("en")}`, "", () => set("kind", kind));
  made.setAttribute("aria-pressed", String((query.get("kind") || "") === kind));
  return made;
}

/** @param {string} name @param {string} value */
function set(name, value) {
  if (value) query.set(name, value);
  else query.delete(name);
  shown = PAGE;
  load();
}

/** @param {any} result */
function card(result) {
  const item = element("li", "", "card");
  item.dataset.key = result.key;
  const head = element("div", "", "kind");
  const changed = element("time", ago(result.changed_s));
  changed.setAttribute("datetime", new Date(1000 * result.changed_s).toISOString());
  changed.title = new Date(1000 * result.changed_s).toLocaleString("en");
  head.append(element("span", capitalised(result.kind)), changed);
  const title = element(result.address ? "a" : "span", result.title, "title");
  if (result.address) title.setAttribute("href", result.address);
  title.dir = "auto";
  item.append(head, title);
  for (const line of result.lines) item.append(element("div", line, "line"));
  const folder = result.name.slice(0, -result.title.length);
  const size = result.size === null ? "" : bytes(result.size);
  item.append(element("div", [folder, size].filter(Boolean).join(" · "), "place"));
  if (result.kind === "predictions") {
    const row = element("div", "", "row");
    row.append(button("Audit…", `Audit ${result.title}`, () => ask("audit", [result])));
    const wrong = element("a", "Confident and wrong", "button");
    wrong.setAttribute("href", `${result.address}?view=confident-and-wrong`);
    row.append(wrong);
    item.append(row);
  }
  return item;
}

/** @param {number} seconds since 1970 @returns {string} */
function ago(seconds) {
  const past = Math.max(0, Date.now() / 1000 - seconds);
  if (past < 60) return "just now";
  for (const [size, name] of /** @type {[number, string][]} */ ([[86400, "day"], [3600, "hour"], [60, "minute"]])) {
    const count = Math.floor(past / size);
    if (count && !(name === "day" && count > 60)) return `${count} ${name}${count === 1 ? "" : "s"} ago`;
    if (count) break;
  }
  return new Date(1000 * seconds).toISOString().slice(0, 10);
}

/** @param {number} size @returns {string} */
function bytes(size) {
  if (size < 1000) return `${size} B`;
  const power = Math.min(3, Math.floor(Math.log10(size) / 3));
  return `${(size / 1000 ** power).toPrecision(3)} ${["B", "kB", "MB", "GB"][power]}`;
}

// ---------------------------------------------------------------------------- audits and comparisons

/** @param {"audit" | "compare"} study @param {any[]} results */
async function ask(study, results) {
  const most = Number(byId("folder").dataset.most);
  chosen = results.map((/** @type {any} */ entry) => entry.key);
  byId("start").dataset.study = study;
  byId("start-title").textContent = study === "audit" ? "Audit" : "Compare";
  byId("methods").hidden = study === "audit";
  byId("method-list").replaceChildren(...results.map((/** @type {any} */ entry, /** @type {number} */ k) => {
    const label = element("label", "", "choice");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.value = entry.key;
    box.checked = k < most;
    label.append(box, element("bdi", entry.name));
    return label;
  }));
  byId("start-note").textContent = study === "audit" ? `${isolated(results[0].name)}. The audit and its page are written beside it.` : "The comparison and its page are written beside the first file.";
  byId("data").replaceChildren();
  byId("begin").disabled = true;
  byId("start").showModal();
  try {
    const { choices } = await get(`/api/data/${results[0].key}`);
    byId("data").replaceChildren(...choices.map((/** @type {any} */ entry) => new Option(isolated(entry.title), entry.key)));
    byId("begin").disabled = !choices.length;
    if (!choices.length) byId("start-note").textContent = "There are no annotations: put a file of them in the folder, or open it with --dataset or --annotations.";
    else byId("begin").focus();
  } catch (error) {
    byId("start-note").textContent = error instanceof Error ? error.message : String(error);
  }
}

async function begin() {
  const study = byId("start").dataset.study;
  const boxes = /** @type {HTMLInputElement[]} */ ([...byId("method-list").querySelectorAll("input")]);
  const predictions = study === "audit" ? chosen : boxes.filter((box) => box.checked).map((box) => box.value);
  try {
    await send("POST", `/api/${study}`, { predictions, data: byId("data").value });
    byId("start").close();
    follow();
  } catch (error) {
    byId("start-note").textContent = error instanceof Error ? error.message : String(error);
  }
}

async function follow() {
  if (isPolling) return;
  isPolling = true;
  for (let wasActive = false; ; ) {
    const { jobs } = await get("/api/jobs").catch(() => ({ jobs: [] }));
    byId("jobs").hidden = !jobs.length;
    byId("jobs").replaceChildren(...jobs.slice(0, 8).map(job));
    const isActive = jobs.some(isUnderWay);
    if (wasActive && !isActive) {
      announce(`${jobs[0].title}: ${jobs[0].state}`);
      load();
    }
    wasActive = isActive;
    if (!isActive) break;
    await wait(POLL_MS);
  }
  isPolling = false;
}

/** @param {any} started @returns {boolean} */
const isUnderWay = (started) => started.state === "waiting" || started.state === "running";

/** @param {any} started */
function job(started) {
  const box = element("div", "", `job ${started.state}`);
  const seconds = Math.round(Date.now() / 1000 - started.started_s);
  const state = started.state === "running" ? `${started.doing || "Begins"} · ${seconds} s` : started.state === "failed" ? started.why : started.state;
  const end = element("span", "", "end");
  if (isUnderWay(started)) end.append(button("Cancel", `Cancel: ${started.title}`, () => send("POST", `/api/jobs/${started.job}/cancel`).catch(() => {})));
  const again = { cancelled: "Resume", failed: "Try again" }[started.state];
  if (again) end.append(button(again, `${again}: ${started.title}`, () => send("POST", `/api/jobs/${started.job}/resume`).then(follow, (error) => problem(error.message))));
  if (started.address) {
    const link = element("a", "Open", "button main");
    link.setAttribute("href", started.address);
    link.setAttribute("aria-label", `Open: ${started.title}`);
    end.append(link);
  }
  box.append(element("bdi", started.title), element("span", state, "soft"), end);
  return box;
}

// ------------------------------------------------------------------------------------------------ begin

let silence = 0;
byId("find").value = query.get("q") || "";
byId("find").addEventListener("input", () => {
  clearTimeout(silence);
  silence = setTimeout(() => set("q", byId("find").value.trim()), 250);
});
byId("find").form.addEventListener("submit", (/** @type {Event} */ event) => {
  event.preventDefault();
  set("q", byId("find").value.trim());
});
byId("more").addEventListener("click", () => {
  shown += MOST;
  load();
});
byId("compare").addEventListener("click", async () => {
  const sent = new URLSearchParams(query);
  sent.set("kind", "predictions");
  sent.set("limit", "64");
  const answer = await get(`/api/cards?${sent}`).catch(() => ({ cards: [] }));
  if (answer.cards.length > 1) ask("compare", answer.cards);
});
byId("start-form").addEventListener("submit", (/** @type {Event} */ event) => {
  event.preventDefault();
  begin();
});
byId("leave").addEventListener("click", () => byId("start").close());
document.addEventListener("keydown", (event) => {
  const isTyping = /** @type {HTMLElement} */ (event.target).closest("input, select, textarea, dialog");
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  byId("find").select();
});
load();
follow();
