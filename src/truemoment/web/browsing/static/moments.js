// A moment as the pages hold it, and what is said of it.

import { clock } from "./frames.js";
import { ROOT } from "./page.js";

/**
 * @typedef {{v: number, start_s: number, end_s: number, score: number | null, match: number | null, rank?: number,
 *   sentence?: string, like?: string | null, id?: string, note?: string, why?: string, ranks?: {list: string, rank: number}[], said?: {text: string} | null, video_id?: string, file?: string, parts?: {start_s: number, end_s: number}[]}} Moment
 */

/** @param {number} time @returns {string} as 0:41:12, with hours always */
export function longClock(time) {
  const text = clock(time, 0);
  return text.split(":").length === 2 ? `0:${text.padStart(5, "0")}` : text;
}

/** @param {Moment} moment @returns {string} as 0:41:12–0:41:17 */
export function timesText(moment) {
  return `${longClock(moment.start_s)}–${longClock(moment.end_s)}`;
}

/** @param {Moment} moment @returns {string} as 5 s, or 0.4 s */
export function lengthText(moment) {
  const length = moment.end_s - moment.start_s;
  return `${length >= 10 ? Math.round(length) : Number(length.toFixed(1))} s`;
}

/** @param {number | null} value @param {number} digits */
export function fixed(value, digits) {
  return value === null || value === undefined ? "–" : value.toFixed(digits).replace(/^-(?=[0.]*$)/, "").replace("-", "−");
}

/** @param {number | null | undefined} match @returns {string} as 98 % */
export function matchText(match) {
  return match === null || match === undefined ? "–" : `${Math.round(100 * match)}\u00a0%`;
}

/** @param {Moment} moment @returns {string} as 0.294, match 98 % */
export function scoreText(moment) {
  if (moment.score === null || moment.score === undefined) return "no score";
  return `${fixed(moment.score, 3)}, match ${matchText(moment.match)}`;
}

/** @param {number} time @returns {string} in words, for a screen reader: 41 minutes 12 seconds */
export function spokenTime(time) {
  const whole = Math.round(time);
  const parts = [[Math.floor(whole / 3600), "hours"], [Math.floor(whole / 60) % 60, "minutes"], [whole % 60, "seconds"]];
  return parts.filter(([count]) => count).map(([count, unit]) => `${count} ${unit}`).join(" ") || "the start";
}

/** @param {Moment} moment @param {number} side @param {boolean} exact @returns {string} */
export function pictureAddress(moment, side = 320, exact = false) {
  const middle = Math.round(500 * (moment.start_s + moment.end_s));
  const half = Math.round(500 * (moment.end_s - moment.start_s));
  return `${ROOT}/picture/${moment.v}/${middle}.jpg?side=${side}&half=${half}&exact=${exact ? 1 : 0}`;
}

/** @param {Moment} moment @returns {string} six pictures side by side */
export function previewAddress(moment) {
  const start = Math.round(1000 * moment.start_s);
  return `${ROOT}/preview/${moment.v}/${start}-${Math.max(start + 1, Math.round(1000 * moment.end_s))}.jpg`;
}

/** @param {Moment} a @param {Moment} b */
export function isSame(a, b) {
  return a.v === b.v && Math.abs(a.start_s - b.start_s) < 0.001 && Math.abs(a.end_s - b.end_s) < 0.001;
}
