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
    let found;
    try {
      found = await pages();
    } catch (error) {
      if (asked === turn) problem(error instanceof Error ? error.message : String(error));
      return;
    }
    if (asked !== turn) return;
    problem("");
    show(found);
    if (!found.waiting) return;
    await wait(POLL_MS);
    if (asked !== turn) return;
  }
}

/** Get as many cards as are shown, some hundreds a request. */
async function pages() {
  let found = null;
  do {
    const sent = new URLSearchParams(query);
    sent.set("offset", String(found?.cards.length || 0));
    sent.set("limit", String(Math.min(MOST, shown - (found?.cards.length || 0))));
    const next = await get(`/api/cards?${sent}`);
    found = { ...next, cards: [...(found?.cards || []), ...next.cards] };
    if (!next.cards.length) break;
  } while (found.cards.length < Math.min(shown, found.total));
  return found;
}

/** @param {any} found */
function show(found) {
  const text = JSON.stringify(found);
  if (text === last) return;
  last = text;
  const active = document.activeElement;
  const focused = active?.closest("[data-key]");
  const at = focused ? [...focused.querySelectorAll("a, button")].indexOf(/** @type {Element} */ (active)) : -1;
  byId("cards").replaceChildren(...found.cards.map(card));
  if (focused) /** @type {HTMLElement | undefined} */ (document.querySelectorAll(`[data-key="${focused.getAttribute("data-key")}"] :is(a, button)`)[at])?.focus();
  const all = found.kinds.reduce((/** @type {number} */ sum, /** @type {any} */ of) => sum + of.count, 0);
  byId("kinds").replaceChildren(chip("", "All", all), ...found.kinds.map((/** @type {any} */ of) => chip(of.kind, of.title, of.count)));
  const reading = found.waiting ? ` · ${found.waiting.toLocaleString("en")} files are not read yet` : "";
  const cut = found.is_whole ? "" : " · the folder has more files than are listed";
  byId("count").textContent = `${found.total.toLocaleString("en")} ${found.total === 1 ? "result" : "results"}${reading}${cut}`;
  byId("none").hidden = found.total > 0 || found.waiting > 0;
  byId("none").textContent = query.get("q") ? "Nothing here has these words." : "There are no files in this folder.";
  byId("more").hidden = found.cards.length >= found.total;
  const predictions = found.kinds.find((/** @type {any} */ of) => of.kind === "predictions");
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

/** @param {any} of */
function card(of) {
  const item = element("li", "", "card");
  item.dataset.key = of.key;
  const head = element("div", "", "kind");
  const changed = element("time", ago(of.changed_s));
  changed.setAttribute("datetime", new Date(1000 * of.changed_s).toISOString());
  changed.title = new Date(1000 * of.changed_s).toLocaleString("en");
  head.append(element("span", capitalised(of.kind)), changed);
  const title = element(of.address ? "a" : "span", of.title, "title");
  if (of.address) title.setAttribute("href", of.address);
  title.dir = "auto";
  item.append(head, title);
  for (const line of of.lines) item.append(element("div", line, "line"));
  const folder = of.name.slice(0, -of.title.length);
  const size = of.size === null ? "" : bytes(of.size);
  item.append(element("div", [folder, size].filter(Boolean).join(" · "), "place"));
  if (of.kind === "predictions") {
    const row = element("div", "", "row");
    row.append(button("Audit…", `Audit ${of.title}`, () => ask("audit", [of])));
    const wrong = element("a", "Confident and wrong", "button");
    wrong.setAttribute("href", `${of.address}?view=confident-and-wrong`);
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

/** @param {"audit" | "compare"} study @param {any[]} of */
async function ask(study, of) {
  const most = Number(byId("folder").dataset.most);
  chosen = of.map((/** @type {any} */ one) => one.key);
  byId("start").dataset.study = study;
  byId("start-title").textContent = study === "audit" ? "Audit" : "Compare";
  byId("methods").hidden = study === "audit";
  byId("method-list").replaceChildren(...of.map((/** @type {any} */ one, /** @type {number} */ k) => {
    const label = element("label", "", "choice");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.value = one.key;
    box.checked = k < most;
    label.append(box, element("bdi", one.name));
    return label;
  }));
  byId("start-note").textContent = study === "audit" ? `${isolated(of[0].name)}. The audit and its page are written beside it.` : "The comparison and its page are written beside the first file.";
  byId("data").replaceChildren();
  byId("begin").disabled = true;
  byId("start").showModal();
  try {
    const { choices } = await get(`/api/data/${of[0].key}`);
    byId("data").replaceChildren(...choices.map((/** @type {any} */ one) => new Option(isolated(one.title), one.key)));
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

/** @param {any} of @returns {boolean} */
const isUnderWay = (of) => of.state === "waiting" || of.state === "running";

/** @param {any} of */
function job(of) {
  const box = element("div", "", `job ${of.state}`);
  const seconds = Math.round(Date.now() / 1000 - of.started_s);
  const state = of.state === "running" ? `${of.doing || "Begins"} · ${seconds} s` : of.state === "failed" ? of.why : of.state;
  const end = element("span", "", "end");
  if (isUnderWay(of)) end.append(button("Cancel", `Cancel: ${of.title}`, () => send("POST", `/api/jobs/${of.job}/cancel`).catch(() => {})));
  if (of.address) {
    const link = element("a", "Open", "button main");
    link.setAttribute("href", of.address);
    link.setAttribute("aria-label", `Open: ${of.title}`);
    end.append(link);
  }
  box.append(element("bdi", of.title), element("span", state, "soft"), end);
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
  const found = await get(`/api/cards?${sent}`).catch(() => ({ cards: [] }));
  if (found.cards.length > 1) ask("compare", found.cards);
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
