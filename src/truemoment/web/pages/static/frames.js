// The frame table of a video: which frame is shown when. Times are seconds, frames count from 0.

export class FrameTable {
  /** @param {{tick: [number, number], runs: [number, number, number][], end: number}} table */
  constructor(table) {
    [this.numerator, this.denominator] = table.tick;
    this.runs = table.runs;
    this.endTick = table.end;
    /** @type {number[]} number of the first frame of each run */
    this.firsts = [];
    this.count = 0;
    for (const [, , count] of this.runs) {
      this.firsts.push(this.count);
      this.count += count;
    }
  }

  /** @param {number} tick */
  seconds(tick) {
    return (tick * this.numerator) / this.denominator;
  }

  /** @param {number} frame @returns {number} tick at which a frame is first shown; of the one after the last: the end */
  tick(frame) {
    if (frame >= this.count) return this.endTick;
    const run = lastNotAfter(this.firsts, frame);
    const [first, step] = this.runs[run];
    return first + step * (frame - this.firsts[run]);
  }

  /** @param {number} frame @returns {number} when it is first shown */
  start(frame) {
    return this.seconds(this.tick(frame));
  }

  /** @param {number} frame @returns {number} when the next one is shown, or the end of the video */
  end(frame) {
    return this.seconds(this.tick(frame + 1));
  }

  /** @param {number} frame @returns {number} the time to seek to, so that exactly this frame is shown */
  middle(frame) {
    return (this.start(frame) + this.end(frame)) / 2;
  }

  get duration() {
    return this.seconds(this.endTick);
  }

  /** @param {number} time @returns {number} the frame shown at a time */
  frameAt(time) {
    const tick = (time * this.denominator) / this.numerator + 1e-6;
    let run = lastNotAfter(this.runs.map((run) => run[0]), tick);
    if (run < 0) return 0;
    const [first, step, count] = this.runs[run];
    return Math.min(this.firsts[run] + Math.min(count - 1, Math.floor((tick - first) / step)), this.count - 1);
  }

  /** @param {number} time @returns {number} the frame whose start is nearest, for time stamps that a browser reports */
  frameOfStamp(time) {
    const frame = this.frameAt(time);
    const isNearer = frame + 1 < this.count && this.start(frame + 1) - time < time - this.start(frame);
    return isNearer ? frame + 1 : frame;
  }

  /** @param {number} frame @returns {number} the nearest frame that exists */
  clamp(frame) {
    return Math.max(0, Math.min(this.count - 1, Math.round(frame)));
  }
}

/** @param {number[]} rising @param {number} value @returns {number} position of the last number not after a value, or -1 */
function lastNotAfter(rising, value) {
  let low = 0;
  let high = rising.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** @param {number} time seconds @param {number} digits @returns {string} as 0:07.13 or 1:02:03.40 */
export function clock(time, digits = 2) {
  const unit = 10 ** digits;
  const whole = Math.round(Math.max(0, time) * unit);
  const seconds = Math.floor(whole / unit);
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, "0"));
  const hours = Math.floor(seconds / 3600);
  const head = hours ? `${hours}:${parts[0]}` : String(Math.floor(seconds / 60));
  return `${head}:${parts[1]}${digits ? `.${String(whole % unit).padStart(digits, "0")}` : ""}`;
}
