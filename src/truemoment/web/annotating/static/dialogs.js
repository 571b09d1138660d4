// Dialogs: which of two answers counts, and the feedback after a practice task.

import { clock } from "./frames.js";
import { spanText } from "./timeline.js";

/**
 * Ask which answer counts, after another tab has changed it.
 * @param {HTMLDialogElement} dialog
 * @param {import("./answer.js").Answer} mine
 * @param {import("./answer.js").Answer} theirs
 * @param {import("./frames.js").FrameTable | null} table null where the answer is one to another task
 * @returns {Promise<"mine" | "theirs" | "both">}
 */
export function showConflict(dialog, mine, theirs, table) {
  const buttons = /** @type {["mine" | "theirs" | "both", string][]} */ ([
    ["mine", "Keep the answer of this tab"], ["theirs", "Use the stored answer"],
  ]);
  if (mine.moments.length && theirs.moments.length) buttons.push(["both", "Keep the moments of both"]);
  return ask(dialog, "conflict-title", "This answer was also changed in another tab", [
    `This tab: ${inWords(mine, table)}`, `Stored answer: ${inWords(theirs, table)}`,
  ], buttons);
}

/**
 * @param {import("./answer.js").Answer} answer
 * @param {import("./frames.js").FrameTable | null} table
 */
function inWords(answer, table) {
  if (answer.moments.length) {
    return answer.moments.map((moment) => (table ? spanText(table, moment) : `frames ${moment.first} to ${moment.last}`)).join("; ");
  }
  const verdict = { "": "no answer", absent: "not in the video", broken: "does not play" }[answer.verdict] || answer.verdict;
  return [verdict, ...answer.reasons].join(", ");
}

/**
 * Show the agreed moments after a practice task.
 * @param {HTMLDialogElement} dialog
 * @param {{right: boolean, text: string, moments: [number, number][]}} feedback
 */
export function showFeedback(dialog, feedback) {
  const lines = [feedback.text];
  if (feedback.moments.length) {
    const moments = feedback.moments.map(([start, end]) => `${clock(start)} – ${clock(end)}`);
    lines.push(`Agreed moment${moments.length > 1 ? "s" : ""}: ${moments.join("; ")}`);
  }
  return ask(dialog, "feedback-title", feedback.right ? "✓ Correct" : "Practice", lines, [["next", "Next task"]]);
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
  row.className = "row";
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
