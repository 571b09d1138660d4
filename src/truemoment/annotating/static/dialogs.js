// Questions that a person answers before going on.

import { clock } from "./frames.js";
import { spanText } from "./timeline.js";

/**
 * Ask which answer counts, after another tab has changed it.
 * @param {HTMLDialogElement} dialog
 * @param {import("./answer.js").Answer} mine
 * @param {import("./answer.js").Answer} theirs
 * @param {import("./frames.js").FrameTable | undefined} table
 * @returns {Promise<"mine" | "theirs" | "both">}
 */
export function showConflict(dialog, mine, theirs, table) {
  const buttons = /** @type {["mine" | "theirs" | "both", string][]} */ ([
    ["mine", "Keep mine"], ["theirs", "Take the other"],
  ]);
  if (mine.moments.length && theirs.moments.length) buttons.push(["both", "Keep both in view"]);
  return ask(dialog, "conflict-title", "This task was changed in another tab", [
    `Mine: ${inWords(mine, table)}`, `The other: ${inWords(theirs, table)}`,
  ], buttons);
}

/**
 * @param {import("./answer.js").Answer} answer
 * @param {import("./frames.js").FrameTable | undefined} table
 */
function inWords(answer, table) {
  if (!answer.moments.length) return { "": "no answer", absent: "not in the video" }[answer.verdict] || answer.verdict;
  return answer.moments.map((of) => (table ? spanText(table, of) : `frames ${of.first} to ${of.last}`)).join("; ");
}

/**
 * Show what others agreed on, after a practice task.
 * @param {HTMLDialogElement} dialog
 * @param {{right: boolean, text: string, moments: [number, number][]}} feedback
 */
export function showFeedback(dialog, feedback) {
  const lines = [feedback.text];
  if (feedback.moments.length) {
    lines.push(`Others: ${feedback.moments.map(([start, end]) => `${clock(start)} – ${clock(end)}`).join("; ")}`);
  }
  return ask(dialog, "feedback-title", feedback.right ? "✓ Practice" : "Practice", lines, [["next", "Go on"]]);
}

/**
 * @template {string} T
 * @param {HTMLDialogElement} dialog
 * @param {string} id
 * @param {string} title
 * @param {string[]} lines
 * @param {[T, string][]} buttons
 * @returns {Promise<T>}
 */
function ask(dialog, id, title, lines, buttons) {
  const heading = document.createElement("h2");
  heading.id = id;
  heading.textContent = title;
  const texts = lines.map((line) => {
    const paragraph = document.createElement("p");
    paragraph.textContent = line;
    return paragraph;
  });
  const row = document.createElement("div");
  row.className = "marks";
  dialog.replaceChildren(heading, ...texts, row);
  return new Promise((resolve) => {
    buttons.forEach(([name, text], number) => {
      const button = document.createElement("button");
      button.textContent = text;
      button.dataset.choice = name;
      if (number === 0) button.className = "main";
      button.addEventListener("click", () => {
        dialog.close();
        resolve(name);
      });
      row.append(button);
    });
    dialog.oncancel = (event) => event.preventDefault();
    dialog.showModal();
  });
}
