// Moments as bars on one axis: small ones in a list of queries, large ones on the page of a query.

import { clock } from "./frames.js";
import { capitalised, element } from "./page.js";

/** What each kind of error is, and a sketch of it: reference and answer as shares of the axis. */
export const KINDS = /** @type {Record<string, [string, [number, number], [number, number] | null]>} */ ({
  hit: ["The answer reaches the threshold", [0.3, 0.6], [0.33, 0.62]],
  "too long": ["It contains the reference and more", [0.4, 0.55], [0.15, 0.85]],
  "too short": ["It lies within the reference", [0.25, 0.75], [0.42, 0.5]],
  shifted: ["It overlaps the reference with another extent", [0.25, 0.55], [0.45, 0.8]],
  "wrong place": ["It does not overlap a reference", [0.6, 0.8], [0.1, 0.3]],
  "empty or swapped": ["It does not end after it starts", [0.4, 0.7], [0.5, 0.5]],
  "no answer": ["There is none, or it could not be read", [0.4, 0.7], null],
  "faulty reference": ["The reference is empty or swapped", [0.5, 0.5], [0.3, 0.6]],
});

/**
 * @param {number} start share of the axis
 * @param {number} end share of the axis
 * @param {string} kind class
 * @param {string} title
 */
export function bar(start, end, kind, title = "") {
  const made = element("span", "", `bar ${kind}`);
  place(made, start, end);
  if (title) made.title = title;
  return made;
}

/** @param {HTMLElement} node @param {number} start @param {number} end */
export function place(node, start, end) {
  const low = Math.max(0, Math.min(1, start));
  const high = Math.max(low, Math.min(1, end));
  node.style.left = `${100 * low}%`;
  node.style.width = `${100 * (high - low)}%`;
}

const LEAST = 0.08; // share of the axis that a bar takes at least: 24 px on a phone, for a finger

/** @param {number[][]} spans shares of the axis @returns {number[]} the row of each: the first one in which it covers no earlier span */
export function inRows(spans) {
  /** @type {number[][][]} */ const rows = [];
  return spans.map(([start, end]) => {
    const more = Math.max(0, LEAST - (end - start)) / 2;
    const low = start - more, high = end + more;
    let row = rows.findIndex((taken) => taken.every(([from, to]) => high <= from || to <= low));
    if (row < 0) row = rows.push([]) - 1;
    rows[row].push([low, high]);
    return row;
  });
}

/** @param {any} query @returns {number} seconds that the axis shows: the video, or what lies in it */
export function axisOf(query) {
  const ends = [...query.references, ...query.systems.flatMap((/** @type {any} */ system) => system.answers)].map((span) => span[1]);
  return query.duration_s || Math.max(1, ...ends);
}

/** @param {any} query a row of the list @returns {HTMLElement} references above, the first answer of each system below */
export function smallBars(query) {
  const box = element("div", "", "bars small");
  const whole = axisOf(query);
  const lanes = 1 + query.systems.length;
  box.style.setProperty("--lanes", String(lanes));
  /** @param {HTMLElement} made @param {number} lane */
  const put = (made, lane) => {
    made.style.top = `calc(.15rem + ${lane} * (100% - .3rem) / ${lanes})`;
    made.style.height = `calc((100% - .3rem) / ${lanes} - 2px)`;
    box.append(made);
  };
  for (const [start, end] of query.references) put(bar(start / whole, end / whole, "reference", `reference ${clock(start)} – ${clock(end)}`), 0);
  query.systems.forEach((/** @type {any} */ system, /** @type {number} */ k) => {
    const first = system.answers[0];
    if (first) put(bar(first[0] / whole, first[1] / whole, `answer ${system.kind === "hit" ? "hit" : ""}`, `answer ${clock(first[0])} – ${clock(first[1])}`), k + 1);
  });
  return box;
}

/** @param {string[]} names @returns {HTMLElement[]} the legend */
export function legend(names) {
  return names.flatMap((name) => {
    const [text, reference, answer] = KINDS[name] || [name, [0, 0], null];
    const sketch = element("div", "", "bars");
    const above = bar(...reference, "reference");
    above.style.top = "15%";
    above.style.height = "30%";
    sketch.append(above);
    if (answer) {
      const below = bar(...answer, "answer");
      below.style.top = "55%";
      below.style.height = "30%";
      sketch.append(below);
    }
    const about = element("dd");
    about.append(sketch, element("span", text));
    return [element("dt", capitalised(name)), about];
  });
}
