// What the page says: problems above the task, hints beside the button that submits, and how saving goes.

import { announce, byId, capitalised, printable } from "./page.js";

/** Show a hint beside the button that submits. @param {string} text */
export function hint(text) {
  byId("hint").textContent = text;
  if (text) announce(text);
}

/**
 * Show a problem above the task.
 * @param {string} text "" for none
 * @param {string} kind a kind is taken away by the same kind only; "" takes all away
 */
export function problem(text, kind = "") {
  const place = byId("problem");
  if (!text && kind && place.dataset.kind !== kind) return;
  place.hidden = !text;
  place.textContent = printable(text);
  place.dataset.kind = kind;
}

/** @param {string} state of the outbox @param {number} count changes that wait */
export function showSaving(state, count) {
  const place = byId("saving");
  const changes = `${count} change${count === 1 ? " waits" : "s wait"} in this browser`;
  const text = capitalised({
    offline: `offline: ${changes}`, failed: `not saved yet: ${changes}`, refused: `not saved: ${changes}`,
    conflict: "conflict with another tab",
  }[state] || state);
  place.dataset.state = state;
  if (place.textContent === text) return;
  place.textContent = text;
  if (state !== "saving" && state !== "saved") announce(text);
}

/** @param {"work" | "done" | "waiting"} part the part of the page that is shown */
export function showPart(part) {
  for (const name of ["work", "done", "waiting"]) byId(name).hidden = name !== part;
}
