// The list of marked moments: their times, which can be typed, whether they were reviewed, and a button that removes them.

import { byId } from "./page.js";
import { clock } from "./frames.js";
import { hint } from "./messages.js";

const NO_TIME = "Enter a time in seconds, or as 1:02.5.";

/**
 * @typedef {{select: (k: number) => void, set: (k: number, end: "first" | "last", time: number) => void, remove: (k: number) => void}}
 *   MomentActions what the list can do to the answer
 */

/**
 * Show the moments of an answer. Rows stay the same elements as long as their number does, so that a click or a text that is
 * being typed survives.
 * @param {import("./answer.js").Moment[]} moments
 * @param {{table: import("./frames.js").FrameTable | null, selected: number, isReviewed: (moment: any) => boolean}} state
 * @param {MomentActions} actions
 */
export function showMoments(moments, state, actions) {
  const list = byId("moments");
  if (list.children.length !== moments.length) {
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.field : null;
    list.replaceChildren(...moments.map((_, k) => newItem(k, actions)));
    if (focused) list.querySelector(`[data-field="${focused}"]`)?.focus();
  }
  moments.forEach((moment, k) => fill(list.children[k], moment, k, state));
}

/** @returns {boolean} whether each time that was typed is one */
export function timesAreValid() {
  const active = document.activeElement;
  if (active instanceof HTMLInputElement && active.dataset.field) active.blur(); // takes up what was typed
  const wrong = byId("moments").querySelector("[aria-invalid=true]");
  if (wrong) hint(NO_TIME);
  wrong?.focus();
  return !wrong;
}

/** @param {number} k @param {MomentActions} actions */
function newItem(k, actions) {
  const item = document.createElement("li");
  const number = document.createElement("span");
  number.className = "number";
  number.textContent = String(k + 1);
  const length = document.createElement("span");
  length.className = "length";
  const reviewed = document.createElement("span");
  const remove = document.createElement("button");
  remove.textContent = "Remove";
  remove.dataset.field = `${k}-remove`;
  remove.setAttribute("aria-label", `remove moment ${k + 1}`);
  remove.addEventListener("click", (event) => {
    event.stopPropagation();
    actions.remove(k);
  });
  item.append(number, field(k, "first", actions), "–", field(k, "last", actions), length, reviewed, remove);
  item.addEventListener("click", () => actions.select(k));
  return item;
}

/** @param {any} item @param {any} moment @param {number} k @param {any} state */
function fill(item, moment, k, { table, selected, isReviewed }) {
  const [, first, last, length, reviewed] = item.children;
  item.className = k === selected ? "selected" : "";
  if (table) {
    showTime(first, clock(table.start(moment.first)));
    showTime(last, clock(table.end(moment.last)));
    length.textContent = `${(table.end(moment.last) - table.start(moment.first)).toFixed(2)} s`;
  }
  reviewed.className = isReviewed(moment) ? "good" : "soft";
  reviewed.textContent = isReviewed(moment) ? "✓ Reviewed" : "Not reviewed";
}

/** @param {HTMLInputElement} input @param {string} text */
function showTime(input, text) {
  const isTyping = document.activeElement === input && input.value !== input.dataset.shown;
  if (isTyping) return;
  input.value = input.dataset.shown = text;
  input.setAttribute("aria-invalid", "false");
}

/** A time that can be typed: seconds, or 1:02.5. @param {number} k @param {"first" | "last"} end @param {MomentActions} actions */
function field(k, end, actions) {
  const input = document.createElement("input");
  input.type = "text";
  input.inputMode = "decimal";
  input.autocomplete = "off";
  input.dataset.field = `${k}-${end}`;
  input.setAttribute("aria-label", `${end === "first" ? "start" : "end"} of moment ${k + 1}`);
  input.addEventListener("change", () => {
    const time = secondsOf(input.value);
    input.setAttribute("aria-invalid", String(time === null));
    if (time === null) return hint(NO_TIME);
    input.dataset.shown = input.value; // taken up
    actions.set(k, end, time);
  });
  return input;
}

/** @param {string} text @returns {number | null} */
function secondsOf(text) {
  const parts = text.trim().replace(",", ".").split(":");
  const time = parts.reduce((sum, part) => 60 * sum + Number(part), 0);
  const isTime = parts.length <= 3 && parts.every((part) => part.trim() !== "") && Number.isFinite(time) && time >= 0;
  return isTime ? time : null;
}
