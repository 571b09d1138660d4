// The owner's page: who is done, how people agree, and what the owner decides.

import { get, send } from "./api.js";

const EVERY_MS = 5000;
const PER_PAGE = 100;
let seen = 0;
let offset = 0;

/** @param {string} id @returns {any} */
const byId = (id) => document.getElementById(id);

/** @param {string} name @param {string} text @param {string} kind */
function element(name, text = "", kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

/** @param {number | null | undefined} value @param {number} digits */
function figure(value, digits = 2) {
  return value === null || value === undefined ? "–" : value.toFixed(digits).replace(/^0\./, ".");
}

/** @param {number} seconds */
function minutes(seconds) {
  return `${Math.floor(seconds / 60)}:${String(Math.round(seconds % 60)).padStart(2, "0")}`;
}

/** @param {number | null} seconds */
function ago(seconds) {
  if (seconds === null) return "never";
  if (seconds < 90) return "now";
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 129600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} days`;
}

async function refresh() {
  const found = await get(`/api/owner/summary?since=${seen}`);
  if (!found) return;
  seen = found.open ? 0 : found.seq;
  const share = found.needed ? Math.round((100 * found.answers) / found.needed) : 0;
  const waiting = found.videos.waiting ? ` · ${found.videos.waiting} videos are being prepared` : "";
  const gone = found.videos["not playable"] ? ` · ${found.videos["not playable"]} videos do not play` : "";
  byId("state").textContent =
    `${found.closed ? "closed" : "running"} · ${found.answers} of ${found.needed} answers, ${share} % · ${found.people.length} people${waiting}${gone}`;
  byId("people").tBodies[0].replaceChildren(...found.people.map((/** @type {any} */ of) => rowOf(of, found.closed)));
  byId("figures").textContent = figuresOf(found);
  byId("broken").replaceChildren(
    ...Object.entries(found.not_playable).map(([name, why]) => element("li", `does not play: ${name}: ${why}`)),
  );
  byId("close").disabled = found.closed;
  byId("add").disabled = found.closed;
}

/** @param {any} found */
function figuresOf(found) {
  const parts = [];
  if (found.pairs) {
    parts.push(`mean IoU of two ${figure(found.mean_iou)}`);
    parts.push(`pairs at .5 or more ${Math.round(100 * found.at_half)} %`);
    parts.push(`${Math.round(100 * found.disjoint)} % do not overlap`);
  }
  if (found.presence !== null) parts.push(`two agree on presence in ${Math.round(100 * found.presence)} %`);
  for (const [name, count] of Object.entries(found.verdicts)) parts.push(`${name} ${count}`);
  return parts.join(" · ");
}

/** @param {any} of @param {boolean} isClosed */
function rowOf(of, isClosed) {
  const row = document.createElement("tr");
  const name = element("td", `${of.name}${of.state === "revoked" ? " (revoked)" : ""}`);
  for (const flag of of.flags || []) name.append(element("span", `! ${flag}`, "flag"));
  const counts = (/** @type {[number, number] | undefined} */ pair) => (pair && pair[1] ? `${pair[0]}/${pair[1]}` : "–");
  const error = of.agreement_error;
  const agreement = error ? ` (${figure(of.agreement - error)}–${figure(of.agreement + error)})` : "";
  const cells = [
    `${of.done}/${of.tasks}`, of.median_s === undefined || of.median_s === null ? "–" : minutes(of.median_s),
    figure(of.self_iou), counts(of.gold), counts(of.absent), `${figure(of.agreement)}${agreement}`,
  ];
  row.append(name, ...cells.map((text) => element("td", text, "number")), element("td", ago(of.seen_s)));
  const actions = document.createElement("td");
  if (!isClosed && of.state !== "revoked") {
    actions.append(
      button("revoke", `revoke ${of.name}`, () => decide(`Revoke ${of.name}?`, "The link ends at once. Answers stay.", () => send("POST", `/api/owner/people/${of.name}/revoke`))),
      button("replace", `replace ${of.name}`, () => decide(`Replace ${of.name}?`, "The link ends. A new person gets what was not submitted.", async () => showLinks(await send("POST", `/api/owner/people/${of.name}/replace`)))),
    );
  }
  if (!isClosed && of.done) {
    actions.append(button("set aside…", `set aside the answers of ${of.name}`, () => decide(`Set aside all answers of ${of.name}?`, "They are kept and counted, and are not exported as annotations. Your reason goes into the datasheet.", (why) => send("POST", `/api/owner/people/${of.name}/set-aside`, { why }), true)));
  }
  row.append(actions);
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

/**
 * Ask before something is decided.
 * @param {string} title @param {string} text @param {(value: string) => Promise<any>} act @param {boolean} hasField
 * @param {string} label
 */
function decide(title, text, act, hasField = false, label = "Reason") {
  const dialog = byId("ask");
  const heading = element("h2", title);
  heading.id = "ask-title";
  const field = document.createElement("input");
  field.type = "text";
  field.maxLength = 500;
  field.id = "ask-field";
  const caption = document.createElement("label");
  caption.htmlFor = "ask-field";
  caption.textContent = label;
  const row = element("div", "", "actions");
  const yes = button("Yes", title, async () => {
    dialog.close();
    await act(field.value).then(() => reload()).catch(fail);
  });
  yes.className = "main";
  row.append(yes, button("No", "no", () => dialog.close()));
  dialog.replaceChildren(heading, element("p", text), ...(hasField ? [caption, field] : []), row);
  dialog.showModal();
}

/** @param {{links: {name: string, link: string}[]}} found */
function showLinks(found) {
  const place = byId("links");
  place.hidden = false;
  place.textContent = `Links, shown only now. Give each person one:\n${found.links.map((of) => `${of.name}  ${of.link}`).join("\n")}`;
}

/** @param {unknown} error */
function fail(error) {
  const place = byId("problem");
  place.hidden = false;
  place.textContent = error instanceof Error ? error.message : String(error);
}

async function showQueries() {
  const found = await get(`/api/owner/queries?offset=${offset}&limit=${PER_PAGE}`);
  const rows = found.rows.map((/** @type {any} */ of) => {
    const row = document.createElement("tr");
    const link = document.createElement("a");
    link.href = `/owner/query/${of.id}`;
    link.textContent = of.query_id;
    const cell = document.createElement("td");
    cell.append(link);
    const sentence = element("td", of.sentence);
    sentence.dir = "auto";
    const verdicts = Object.entries(of.verdicts).map(([name, count]) => `${name} ${count}`).join(", ");
    row.append(cell, sentence, element("td", verdicts), element("td", figure(of.mean_iou), "number"));
    return row;
  });
  if (offset === 0) byId("queries").tBodies[0].replaceChildren();
  byId("queries").tBodies[0].append(...rows);
  byId("more").hidden = offset + rows.length >= found.total;
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
  decide("Add people", "They get the answers that are missing.", async (value) => {
    showLinks(await send("POST", "/api/owner/people", { count: Number(value) || 1 }));
  }, true, "How many"),
);
byId("close").addEventListener("click", () =>
  decide("Close the study?", "Nobody can change an answer afterwards.", () => send("POST", "/api/owner/close")),
);
byId("export").addEventListener("click", async () => {
  try {
    let { job, state, why } = await send("POST", "/api/owner/export");
    byId("job").textContent = "exporting";
    while (state === "waiting" || state === "running") {
      await new Promise((resolve) => setTimeout(resolve, 300));
      ({ state, why } = await get(`/api/jobs/${job}`));
    }
    if (state !== "ready") throw new Error(why || "the export failed");
    const link = document.createElement("a");
    link.href = `/api/jobs/${job}/file`;
    link.textContent = "download the export";
    link.className = "button";
    byId("job").replaceChildren(link);
  } catch (error) {
    fail(error);
  }
});

reload().catch(fail);
setInterval(() => {
  if (!document.hidden && !byId("ask").open) refresh().catch(fail);
}, EVERY_MS);
