// The export menu: formats, options, the file, and the progress of clips.

import { get, send } from "./api.js";
import { ROOT, announce, button, byId, element, wait } from "./page.js";

/** Formats with their meaning, in the order of the menu. */
const FORMATS = /** @type {const} */ ([
  ["otio", "OpenTimelineIO"], ["edl", "EDL (CMX 3600)"], ["fcpxml", "Final Cut Pro (.fcpxml)"],
  ["xml", "Premiere, Resolve, Final Cut 7 (.xml)"], ["csv", "Table (.csv)"], ["json", "JSON"],
  ["srt", "Subtitles (.srt), one video"], ["vtt", "WebVTT or chapters (.vtt), one video"], ["clips", "Clips (.mp4; several in a ZIP)"],
  ["predictions", "Predictions for truemoment evaluate"], ["annotations", "References for --annotations"],
]);
const TIMELINES = ["otio", "edl", "fcpxml", "xml"];

/**
 * Show the menu.
 * @param {HTMLDialogElement} dialog
 * @param {{collection?: string, moments?: import("./moments.js").Moment[], count: number}} what
 */
export function showExport(dialog, what) {
  const title = element("h2", `Export ${what.count} ${what.count === 1 ? "moment" : "moments"}`);
  title.id = "export-title";
  const format = /** @type {HTMLSelectElement} */ (document.createElement("select"));
  format.id = "export-format";
  for (const [value, text] of FORMATS) format.append(new Option(text, value));
  const label = labelled("Format", format);
  const options = element("fieldset");
  const names = document.createElement("input");
  names.type = "checkbox";
  names.id = "export-names";
  const namesLabel = element("label", "", "choice");
  namesLabel.append(names, "Name files without their folders");
  const start = document.createElement("input");
  start.type = "text";
  start.id = "export-start";
  start.placeholder = "01:00:00:00";
  options.append(namesLabel, labelled("Time code of the first frame, if the video states none", start));
  const state = element("p", "", "soft");
  state.id = "export-state";
  state.setAttribute("role", "status");
  const act = button("Export", "", () => run(), "main");
  act.id = "export-go";
  const close = button("Close", "", () => dialog.close());
  const row = element("div", "", "where");
  row.append(act, close);
  format.addEventListener("change", () => (options.hidden = !TIMELINES.includes(format.value)));
  dialog.replaceChildren(title, label, options, state, row);
  dialog.showModal();

  async function run() {
    state.className = "soft";
    state.textContent = "…";
    const body = { format: format.value, options: { names: names.checked, start: start.value.trim() || null }, ...chosen(what) };
    try {
      if (format.value === "clips") await clips(body, state, close);
      else state.textContent = await file(body, what.collection || "moments");
    } catch (error) {
      state.className = "bad";
      state.textContent = error instanceof Error ? error.message : String(error);
    }
    announce(state.textContent || "");
  }
}

/** @param {string} text @param {HTMLElement} field */
function labelled(text, field) {
  const label = element("label", text);
  label.append(" ", field);
  return label;
}

/** @param {any} what */
function chosen(what) {
  if (what.collection) return { collection: what.collection };
  const moments = what.moments.map((/** @type {any} */ moment, /** @type {number} */ k) => {
    const { v, start_s, end_s, sentence = "", like = null, score = null, match = null } = moment;
    return { id: `m${k}`, v, start_s, end_s, sentence, like, score, match };
  });
  return { moments };
}

/** Ask for a file that is text, and save it. @param {any} body @param {string} name @returns {Promise<string>} what happened */
async function file(body, name) {
  const response = await fetch(`${ROOT}/api/export`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  if ((response.headers.get("Content-Type") || "").startsWith("application/json")) {
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error);
    return `Written: ${answer.written}`;
  }
  const known = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") || "");
  save(await response.blob(), known ? known[1] : `${name}.${body.format}`);
  return "Saved";
}

/** @param {Blob} blob @param {string} name */
function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Address of a job. @param {any} job */
const pathOf = (job) => `/api/jobs/${encodeURIComponent(job.job)}`;

/** Wait until clips are cut. @param {any} job @param {(job: any) => void} show @returns {Promise<any>} the job at its end */
async function ended(job, show) {
  while (job.state === "waiting" || job.state === "running") {
    show(job);
    await wait(400);
    job = await get(pathOf(job));
  }
  if (job.state === "failed") throw new Error(job.why);
  return job;
}

/** Cut the clip of a moment, and save it. @param {import("./moments.js").Moment} moment */
export async function saveClip(moment) {
  const job = await ended(await send("POST", "/api/export", { format: "clips", ...chosen({ moments: [moment] }) }), () => {});
  const link = document.createElement("a");
  link.href = `${ROOT}${pathOf(job)}/file`;
  link.download = "";
  link.click();
}

/** @param {any} body @param {HTMLElement} state @param {HTMLButtonElement} close */
async function clips(body, state, close) {
  let job = await send("POST", "/api/export", body);
  const stop = button("Cancel", "Cancel the clips", () => send("DELETE", pathOf(job)));
  close.before(stop);
  try {
    job = await ended(job, ({ done, total }) => (state.textContent = total ? `${done} of ${total}` : "Waiting"));
  } finally {
    stop.remove();
  }
  state.textContent = job.state === "ready" ? `${job.done} ${job.done === 1 ? "clip" : "clips"}${job.why ? `; ${job.why}` : ""} ` : "Cancelled";
  if (job.state !== "ready") return;
  const link = /** @type {HTMLAnchorElement} */ (element("a", "Save the file"));
  link.href = `${ROOT}${pathOf(job)}/file`;
  link.download = "";
  link.id = "export-file";
  state.append(link);
  link.focus();
}
