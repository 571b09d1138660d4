// The owner's page: who is done, how people agree, and what the owner decides.

import { get, send } from "./api.js";
import { decide } from "./decisions.js";
import { button, byId, element, printable } from "./page.js";

const EVERY_MS = 5000;
const PER_PAGE = 100;
const STATES = { read: "has read the instructions", practised: "has practised" };
let seen = 0;
let offset = 0;

/** @param {number | null | undefined} value @param {number} digits */
function figure(value, digits = 2) {
  return value === null || value === undefined ? "–" : value.toFixed(digits).replace(/^0\./, ".");
}

/** @param {number} seconds */
function minutes(seconds) {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** @param {number | null} seconds */
function ago(seconds) {
  if (seconds === null) return "never";
  if (seconds < 90) return "now";
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 129600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} days`;
}

async function refresh() {
  const summary = await get(`/api/owner/summary?since=${seen}`);
  if (!summary) return;
  seen = summary.open ? 0 : summary.seq;
  const share = summary.needed ? Math.round((100 * summary.answers) / summary.needed) : 0;
  const waiting = summary.videos.waiting ? ` · ${summary.videos.waiting === 1 ? "1 video is" : `${summary.videos.waiting} videos are`} being prepared` : "";
  const gone = summary.videos["not playable"] ? ` · ${summary.videos["not playable"] === 1 ? "1 video does" : `${summary.videos["not playable"]} videos do`} not play` : "";
  byId("state").textContent =
    `${summary.state} · ${summary.answers} of ${summary.needed} answers, ${share} % · ${summary.people.length === 1 ? "1 person" : `${summary.people.length} people`}${waiting}${gone}`;
  const focused = document.activeElement?.getAttribute("aria-label");
  byId("people").tBodies[0].replaceChildren(...summary.people.flatMap((/** @type {any} */ person) => rowOf(person, summary.closed)));
  if (focused) byId("people").querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
  byId("figures").textContent = printable(figuresOf(summary));
  byId("broken").replaceChildren(
    ...Object.entries(summary.not_playable).map(([name, why]) => {
      const item = element("li", "Video ");
      item.append(element("bdi", name), " does not play: ", element("bdi", String(why)));
      return item;
    }),
  );
  byId("close-study").disabled = summary.closed;
  if (byId("problem").dataset.kind === "refresh") byId("problem").hidden = true;
  byId("add").disabled = summary.closed;
}

/** @param {any} summary */
function figuresOf(summary) {
  const parts = [];
  const verdicts = { absent: "not in the video", broken: "does not play", "no fit": "does not fit" };
  const counts = Object.entries(summary.verdicts).map(([name, count]) => `${verdicts[/** @type {keyof verdicts} */ (name)] || name} ${count}`);
  if (counts.length) parts.push(`Answers: ${counts.join(", ")}.`);
  if (summary.pairs) {
    parts.push(
      `Two people who mark the same query have a mean IoU of ${figure(summary.mean_iou)}; ${Math.round(100 * summary.at_half)} % of pairs ` +
        `have 0.5 or more, and ${Math.round(100 * summary.disjoint)} % do not overlap.`,
    );
  }
  if (summary.presence !== null) parts.push(`Two people agree in ${Math.round(100 * summary.presence)} % of pairs whether it is in the video.`);
  return parts.join(" ");
}

/** @param {any} person @param {boolean} isClosed @returns {HTMLElement[]} the row of a person, and one of the flags */
function rowOf(person, isClosed) {
  const row = document.createElement("tr");
  const name = element("td", `${person.name} (${STATES[/** @type {keyof typeof STATES} */ (person.state)] || person.state})`);
  const counts = (/** @type {[number, number] | undefined} */ pair) => (pair && pair[1] ? `${pair[0]} of ${pair[1]}` : "–");
  const error = person.agreement_error;
  const agreement = error ? ` (${figure(person.agreement - error)}–${figure(person.agreement + error)})` : "";
  const cells = [
    `${person.done} of ${person.tasks}`, person.median_s === undefined || person.median_s === null ? "–" : minutes(person.median_s),
    figure(person.self_iou), counts(person.gold), counts(person.absent), `${figure(person.agreement)}${agreement}`,
  ];
  row.append(name, ...cells.map((text) => element("td", text, "number")), element("td", ago(person.seen_s)), actionsOf(person, isClosed));
  if (!person.flags?.length) return [row];
  row.className = "flagged";
  const flags = document.createElement("tr");
  const cell = element("td", person.flags.map((/** @type {string} */ flag) => `! ${flag}`).join("   "), "flags");
  cell.colSpan = 9;
  flags.append(cell);
  return [row, flags];
}

/** @param {any} person @param {boolean} isClosed */
function actionsOf(person, isClosed) {
  const cell = element("td", "", "buttons");
  const { name } = person;
  const path = `/api/owner/people/${encodeURIComponent(name)}`;
  if (!isClosed && person.state !== "revoked") {
    const revoke = () => send("POST", `${path}/revoke`);
    const replace = async () => showLinks(await send("POST", `${path}/replace`));
    cell.append(
      button("Revoke…", `Revoke ${name}`, () => ask(`Revoke ${name}?`, "The link stops working. Answers are kept.", "Revoke", revoke)),
      button("Replace…", `Replace ${name}`, () =>
        ask(`Replace ${name}?`, "The link stops working. A new person gets the tasks that are not submitted.", "Replace", replace)),
    );
  }
  if (!isClosed && person.done) {
    const text = "They stay in answers.jsonl, but not in annotations.jsonl. Your reason is written into the datasheet.";
    const exclude = (/** @type {string} */ why) => send("POST", `${path}/set-aside`, { why });
    cell.append(button("Exclude…", `Exclude the answers of ${name}`, () => ask(`Exclude all answers of ${name}?`, text, "Exclude", exclude, "Reason")));
  }
  return cell;
}

/** @param {string} title @param {string} text @param {string} yes @param {(value: string) => Promise<any>} act @param {string} label */
function ask(title, text, yes, act, label = "") {
  decide(byId("ask"), { title, text, yes, label, act: (value) => act(value).then(() => reload()).catch(fail) });
}

/** @param {{links: {name: string, link: string}[]}} answer */
function showLinks(answer) {
  const place = byId("links");
  place.hidden = false;
  place.textContent = `Links, shown only once. Give each person their own:\n${answer.links.map((link) => `${link.name}  ${link.link}`).join("\n")}`;
}

/** @param {unknown} error @param {string} kind "refresh": it goes away with the next one that succeeds */
function fail(error, kind = "") {
  const place = byId("problem");
  place.dataset.kind = kind;
  place.hidden = false;
  place.textContent = printable(error instanceof Error ? error.message : String(error));
}

async function showQueries() {
  const page = await get(`/api/owner/queries?offset=${offset}&limit=${PER_PAGE}`);
  const rows = page.rows.map((/** @type {any} */ query) => {
    const row = document.createElement("tr");
    const link = document.createElement("a");
    link.href = `/owner/query/${query.id}`;
    link.textContent = printable(query.query_id);
    const cell = document.createElement("td");
    cell.append(link);
    const sentence = element("td", query.sentence);
    sentence.dir = "auto";
    sentence.lang = byId("queries").dataset.lang;
    const verdicts = Object.entries(query.verdicts).map(([name, count]) => `${name} ${count}`).join(", ");
    row.append(cell, sentence, element("td", verdicts), element("td", figure(query.mean_iou), "number"));
    return row;
  });
  if (offset === 0) byId("queries").tBodies[0].replaceChildren();
  byId("queries").tBodies[0].append(...rows);
  byId("queries").hidden = !page.total;
  byId("no-queries").hidden = page.total > 0;
  byId("more").hidden = offset + rows.length >= page.total;
}

async function reload() {
  seen = 0;
  offset = 0;
  await refresh();
  await showQueries();
}

byId("more").addEventListener("click", () => {
  offset += PER_PAGE;
  showQueries().catch(fail);
});
byId("add").addEventListener("click", () =>
  ask("Add people", "They get the queries that still need answers.", "Add", async (value) => {
    showLinks(await send("POST", "/api/owner/people", { count: Number(value) || 1 }));
  }, "Number of people"),
);
byId("close-study").addEventListener("click", () =>
  ask("Close the study?", "Nobody can change an answer afterwards. This cannot be undone.", "Close the study", () => send("POST", "/api/owner/close")),
);
byId("export").addEventListener("click", async () => {
  try {
    let { job, state, why } = await send("POST", "/api/owner/export");
    const path = `/api/jobs/${encodeURIComponent(job)}`;
    byId("job").textContent = "Exporting…";
    while (state === "waiting" || state === "running") {
      await new Promise((resolve) => setTimeout(resolve, 300));
      ({ state, why } = await get(path));
    }
    if (state !== "ready") throw new Error(why || "the export failed");
    const link = document.createElement("a");
    link.href = `${path}/file`;
    link.textContent = "Download the export";
    link.className = "button";
    byId("job").replaceChildren(link);
    seen = 0;
    await refresh();
  } catch (error) {
    fail(error);
  }
});

reload().catch(fail);
setInterval(() => {
  if (!document.hidden && !byId("ask").open) refresh().catch((error) => fail(error, "refresh"));
}, EVERY_MS);
