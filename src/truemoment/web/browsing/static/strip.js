// The strip of a video: the best score at each place, as bars; a table of its peaks is the same in words.

import { element, printable } from "./page.js";
import { fixed, longClock } from "./moments.js";

/** @param {ArrayBuffer} buffer of float16, little endian @returns {Float32Array} */
export function fromHalf(buffer) {
  const bits = new DataView(buffer);
  const values = new Float32Array(buffer.byteLength / 2);
  for (let k = 0; k < values.length; k++) {
    const half = bits.getUint16(2 * k, true);
    const exponent = (half >> 10) & 31;
    const fraction = half & 1023;
    const sign = half & 0x8000 ? -1 : 1;
    if (exponent === 31) values[k] = fraction ? NaN : sign * Infinity;
    else values[k] = sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : (2 ** -14 * fraction) / 1024);
  }
  return values;
}

export class Strip extends EventTarget {
  /**
   * Events: "go" (detail: time in seconds).
   * @param {number} duration seconds
   * @param {string} name of the video
   */
  constructor(duration, name) {
    super();
    this.duration = duration;
    this.root = element("div", "", "strip");
    this.root.tabIndex = 0;
    this.root.setAttribute("role", "slider");
    this.root.setAttribute("aria-label", printable(`best scores of ${name}`));
    this.root.setAttribute("aria-valuemin", "0");
    this.root.setAttribute("aria-valuemax", String(Math.round(duration)));
    this.canvas = document.createElement("canvas");
    this.mark = element("div", "", "mark");
    this.mark.hidden = true;
    this.root.append(this.canvas, this.mark);
    /** @type {Float32Array} */
    this.values = new Float32Array(0);
    this.median = 0;
    this.best = 1;
    this.place(0, false);
    new ResizeObserver(() => this.draw()).observe(this.root);
    this.root.addEventListener("click", (event) => {
      const box = this.root.getBoundingClientRect();
      this.place(((event.clientX - box.left) / box.width) * this.duration);
      this.go();
    });
    this.root.addEventListener("keydown", (event) => this.onKey(event));
  }

  /** @param {string} address @returns {Promise<boolean>} whether it is there */
  async load(address) {
    const response = await fetch(address).catch(() => null);
    if (!response?.ok) return false;
    this.median = Number(response.headers.get("X-Median"));
    this.best = Number(response.headers.get("X-Best"));
    this.values = fromHalf(await response.arrayBuffer());
    this.draw();
    return true;
  }

  draw() {
    const { canvas, root, values } = this;
    const scale = window.devicePixelRatio || 1;
    canvas.width = root.clientWidth * scale;
    canvas.height = root.clientHeight * scale;
    const pen = canvas.getContext("2d");
    if (!pen || !values.length) return;
    const colours = getComputedStyle(root);
    pen.fillStyle = colours.getPropertyValue("--moment");
    for (let x = 0; x < canvas.width; x++) {
      const from = Math.floor((x / canvas.width) * values.length);
      const to = Math.max(from + 1, Math.floor(((x + 1) / canvas.width) * values.length));
      let value = -Infinity;
      for (let k = from; k < to; k++) if (values[k] > value) value = values[k];
      const share = Math.max(0, Math.min(1, (value - this.median) / Math.max(1e-9, this.best - this.median)));
      const height = share * canvas.height;
      pen.fillRect(x, canvas.height - height, 1, height);
    }
  }

  /** @returns {{time: number, score: number}[]} places that are higher than all around them, in order of time */
  peaks() {
    const { values } = this;
    const apart = Math.max(2, Math.round(values.length / 60));
    const limit = this.median + 0.5 * (this.best - this.median);
    const peaks = [];
    for (let k = 0; k < values.length; k++) {
      if (!(values[k] >= limit)) continue;
      let isPeak = true;
      for (let j = Math.max(0, k - apart); j <= Math.min(values.length - 1, k + apart); j++) {
        if (values[j] > values[k] || (values[j] === values[k] && j < k)) isPeak = false;
      }
      if (isPeak) peaks.push({ time: ((k + 0.5) / values.length) * this.duration, score: values[k] });
    }
    return peaks;
  }

  /** Go to the next peak, or the one before. @param {number} by 1 or -1 @returns {boolean} whether there is one */
  nextPeak(by) {
    const times = this.peaks().map((peak) => peak.time);
    const next = by > 0 ? times.find((time) => time > this.time + 0.5) : times.filter((time) => time < this.time - 0.5).pop();
    if (next === undefined) return false;
    this.place(next);
    return true;
  }

  /** @param {number} time @param {boolean} shown */
  place(time, shown = true) {
    this.time = Math.max(0, Math.min(this.duration, time));
    const at = Math.min(this.values.length - 1, Math.floor((this.time / this.duration) * this.values.length));
    const score = this.values.length ? `, score ${fixed(this.values[at], 3)}` : "";
    this.root.setAttribute("aria-valuenow", String(Math.round(this.time)));
    this.root.setAttribute("aria-valuetext", `${longClock(this.time)}${score}`);
    this.mark.hidden = !shown;
    this.mark.style.left = `${(100 * this.time) / this.duration}%`;
  }

  go() {
    this.dispatchEvent(new CustomEvent("go", { detail: this.time }));
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const step = this.duration / (event.shiftKey ? 20 : 200);
    const to = { ArrowLeft: this.time - step, ArrowRight: this.time + step, Home: 0, End: this.duration }[event.key];
    if (to !== undefined) this.place(to);
    else if (event.key === "Enter" || event.key === " ") this.go();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @returns {HTMLElement} a table of the peaks, which is the strip in words */
  table() {
    const details = element("details");
    details.append(element("summary", "Peaks in words"));
    const table = element("table");
    const head = element("tr");
    head.append(element("th", "Time"), element("th", "Score"));
    table.append(head);
    for (const peak of this.peaks()) {
      const row = element("tr");
      row.append(element("td", longClock(peak.time)), element("td", fixed(peak.score, 3)));
      table.append(row);
    }
    details.append(table);
    return details;
  }
}
