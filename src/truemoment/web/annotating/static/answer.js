// An answer, and how marks change it. Moments never overlap; an end that would is stopped at its neighbour.

/**
 * @typedef {{first: number, last: number}} Moment in frames, both included
 * @typedef {{verdict: string, reasons: string[], comment: string, moments: Moment[]}} Answer
 */

export const MOST_MOMENTS = 50; // the server takes no more

/** @returns {Answer} */
export function emptyAnswer() {
  return { verdict: "", reasons: [], comment: "", moments: [] };
}

/** @param {any} stored what the server has @returns {Answer} */
export function answerOf(stored) {
  const { verdict = "", reasons = [], comment = "", moments = [] } = stored || {};
  return { verdict, reasons: [...reasons], comment, moments: moments.map((/** @type {Moment} */ moment) => ({ ...moment })) };
}

/** @param {Answer} answer @param {number} frame @param {number} except @returns {number} the moment that a frame lies in, or -1 */
export function momentAt(answer, frame, except = -1) {
  return answer.moments.findIndex((moment, k) => k !== except && moment.first <= frame && frame <= moment.last);
}

/**
 * Set an end of a moment. It keeps its length above 0, and stops at its neighbours.
 * @param {Answer} answer
 * @param {number} k number of the moment
 * @param {"first" | "last"} end
 * @param {number} frame
 */
export function setEnd(answer, k, end, frame) {
  const moment = answer.moments[k];
  const low = k > 0 ? answer.moments[k - 1].last + 1 : 0;
  const high = k + 1 < answer.moments.length ? answer.moments[k + 1].first - 1 : Infinity;
  const to = Math.max(low, Math.min(high, frame));
  moment[end] = to;
  if (moment.first > moment.last) moment[end === "first" ? "last" : "first"] = to;
}

/**
 * Add a moment of one frame.
 * @param {Answer} answer
 * @param {number} frame
 * @returns {number} its number; -1 if the frame lies in another moment
 */
export function addMoment(answer, frame) {
  if (momentAt(answer, frame) >= 0) return -1;
  const moment = { first: frame, last: frame };
  answer.moments.push(moment);
  answer.moments.sort((a, b) => a.first - b.first);
  answer.verdict = "marked";
  answer.reasons = [];
  return answer.moments.indexOf(moment);
}

/** @param {Answer} answer @param {number} k */
export function removeMoment(answer, k) {
  answer.moments.splice(k, 1);
  if (!answer.moments.length) answer.verdict = "";
}

/** @param {Answer} answer @param {string} verdict one without moments; the same again takes it back */
export function setVerdict(answer, verdict) {
  const isBack = answer.verdict === verdict;
  answer.verdict = isBack ? (answer.moments.length ? "marked" : "") : verdict;
  answer.reasons = [];
  if (!isBack) answer.moments = [];
}

/** @param {Answer} mine @param {Answer} theirs @returns {Answer} all moments of both that do not overlap */
export function bothOf(mine, theirs) {
  const answer = answerOf(mine);
  for (const moment of theirs.moments) {
    if (!answer.moments.some((own) => own.first <= moment.last && moment.first <= own.last)) answer.moments.push({ ...moment });
  }
  answer.moments.sort((a, b) => a.first - b.first);
  if (answer.moments.length) answer.verdict = "marked";
  return answer;
}
