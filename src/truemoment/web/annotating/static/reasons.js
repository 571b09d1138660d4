// Why it is unclear, or what does not fit: boxes and a comment.

import { byId } from "./page.js";

const TITLES = { unclear: "Why is it unclear?", partly: "What does not fit?", broken: "What is wrong with the video?" };

/**
 * @param {{verdict: string, reasons: string[], comment: string} | null} answer null hides them
 * @param {string[]} reasons
 * @param {() => void} changed
 */
export function showReasons(answer, reasons, changed) {
  const place = byId("reasons");
  place.hidden = answer === null;
  if (!answer) return;
  byId("reasons-title").textContent = TITLES[/** @type {keyof typeof TITLES} */ (answer.verdict)] || "Why?";
  const list = byId("reason-list");
  if (list.dataset.for !== answer.verdict) {
    list.dataset.for = answer.verdict;
    list.replaceChildren(...reasons.map(choice));
  }
  for (const box of list.querySelectorAll("input")) {
    box.checked = answer.reasons.includes(box.value);
    box.onchange = () => {
      answer.reasons = reasons.filter((reason) => (reason === box.value ? box.checked : answer.reasons.includes(reason)));
      changed();
    };
  }
  const comment = byId("comment");
  if (document.activeElement !== comment) comment.value = answer.comment;
  comment.oninput = () => {
    answer.comment = comment.value;
    changed();
  };
}

/** @param {string} reason */
function choice(reason) {
  const label = document.createElement("label");
  label.className = "choice";
  const box = document.createElement("input");
  box.type = "checkbox";
  box.value = reason;
  label.append(box, reason);
  return label;
}
