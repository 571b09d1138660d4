// A time line: a window onto the video with lanes of moments, handles, the sound and the playhead.
// Everything that is dragged can also be moved by keys: each handle is a slider.

import { clock } from "./frames.js";

/**
 * @typedef {{first: number, last: number, label?: string, kind?: string, isFixed?: boolean}} Span a moment on the line,
 *   in frames; a fixed one has no handles
 */

export class Timeline extends EventTarget {
  /**
   * Events: "seek" (detail: frame), "select" (detail: number of a span), "window",
   * "move" (detail: {span, end: "first" | "last", frame, done}).
   * @param {HTMLElement} root
   */
  constructor(root) {
    super();
    this.root = root;
    root.classList.add("timeline");
    this.canvas = document.createElement("canvas");
    this.lane = document.createElement("div");
    this.lane.className = "lane";
    this.head = document.createElement("div");
    this.head.className = "playhead";
    root.append(this.canvas, this.lane, this.head);
    /** @type {import("./frames.js").FrameTable | null} */
    this.table = null;
    /** @type {Span[]} */
    this.spans = [];
    this.selected = 0;
    this.isFixed = false; // no handles
    /** @type {(() => void) | null} ends the drag that is under way */
    this.endDrag = null;
    this.from = 0;
    this.to = 1;
    this.frame = 0;
    root.addEventListener("pointerdown", (event) => this.onPointer(event));
    root.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    new ResizeObserver(() => this.draw()).observe(root);
  }

  /** @param {import("./frames.js").FrameTable | null} table null if there is no video */
  load(table) {
    this.endDrag?.();
    this.table = table;
    this.from = 0;
    this.to = table ? table.duration : 1;
    this.spans = [];
    this.drawSpans();
    this.draw();
  }

  /** @param {Span[]} spans @param {number} selected */
  setSpans(spans, selected) {
    this.spans = spans;
    this.selected = selected;
    this.draw();
  }

  /** @param {number} frame */
  setFrame(frame) {
    this.frame = frame;
    if (!this.table) return;
    const time = this.table.start(frame);
    if ((time < this.from || time > this.to) && !this.endDrag) {
      this.setWindow(time - (this.to - this.from) / 10, time + (9 * (this.to - this.from)) / 10);
    }
    this.placeHead();
  }

  /** @param {number} from seconds @param {number} to seconds */
  setWindow(from, to) {
    if (!this.table) return;
    const whole = this.table.duration;
    const width = Math.min(whole, Math.max(to - from, Math.min(whole, 0.5)));
    this.from = Math.max(0, Math.min(from, whole - width));
    this.to = this.from + width;
    this.draw();
    this.dispatchEvent(new Event("window"));
  }

  /** @param {number} factor below 1 shows less time, around the playhead */
  zoom(factor) {
    if (!this.table) return;
    const time = this.table.middle(this.frame);
    const share = (time - this.from) / (this.to - this.from);
    const width = (this.to - this.from) * factor;
    this.setWindow(time - share * width, time + (1 - share) * width);
  }

  /** Show a moment with a third of its length around it; the whole video if it is shown already. @param {Span} span */
  fit(span) {
    if (!this.table) return;
    const start = this.table.start(span.first);
    const end = this.table.end(span.last);
    const around = Math.max(0.25, (end - start) / 3);
    const isFit = Math.abs(this.from - Math.max(0, start - around)) < 0.01 && this.to - this.from < this.table.duration;
    if (isFit) this.setWindow(0, this.table.duration);
    else this.setWindow(start - around, end + around);
  }

  /** @param {number} time @returns {number} share of the window */
  share(time) {
    return (time - this.from) / (this.to - this.from);
  }

  /** @param {number} x of a pointer @returns {number} time */
  timeAt(x) {
    const box = this.root.getBoundingClientRect();
    return this.from + ((x - box.left) / Math.max(1, box.width)) * (this.to - this.from);
  }

  placeHead() {
    if (!this.table) return;
    const share = this.share(this.table.middle(this.frame));
    this.head.hidden = share < 0 || share > 1;
    this.head.style.left = `${100 * share}%`;
  }

  /** @param {Uint8Array | null} peaks pairs of the sound */
  setPeaks(peaks) {
    this.rate = peaks ? new DataView(peaks.buffer, peaks.byteOffset).getUint32(0, true) : 0;
    this.peaks = peaks ? new Int8Array(peaks.buffer, peaks.byteOffset + 4) : null;
    this.draw();
  }

  draw() {
    if (!this.table) return;
    this.drawSound();
    this.drawSpans();
    this.placeHead();
  }

  drawSound() {
    const { canvas } = this;
    const width = this.root.clientWidth;
    const height = this.root.clientHeight;
    const scale = window.devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const pen = canvas.getContext("2d");
    if (!pen || !this.peaks || !this.rate) return;
    pen.scale(scale, scale);
    pen.fillStyle = getComputedStyle(this.root).getPropertyValue("--line");
    for (let x = 0; x < width; x++) {
      const a = Math.floor((this.from + (x / width) * (this.to - this.from)) * this.rate);
      const b = Math.max(a + 1, Math.floor((this.from + ((x + 1) / width) * (this.to - this.from)) * this.rate));
      let low = 0;
      let high = 0;
      for (let k = a; k < b && 2 * k + 1 < this.peaks.length; k++) {
        low = Math.min(low, this.peaks[2 * k]);
        high = Math.max(high, this.peaks[2 * k + 1]);
      }
      const top = (height / 2) * (1 - high / 127);
      pen.fillRect(x, top, 1, Math.max(1, (height / 2) * ((high - low) / 127)));
    }
  }

  drawSpans() {
    const old = [...this.lane.children];
    const wanted = this.spans.map((_, k) => old[k] || this.newSpan(k));
    old.slice(wanted.length).forEach((gone) => gone.remove());
    wanted.forEach((box, k) => {
      if (!box.isConnected) this.lane.append(box);
      this.placeSpan(/** @type {HTMLElement} */ (box), this.spans[k], k);
    });
  }

  /** @param {number} k */
  newSpan(k) {
    const box = document.createElement("div");
    box.className = "span";
    const label = document.createElement("span");
    label.className = "label";
    box.append(label);
    for (const end of /** @type {const} */ (["first", "last"])) {
      const handle = document.createElement("div");
      handle.className = `handle ${end}`;
      handle.tabIndex = 0;
      handle.setAttribute("role", "slider");
      handle.dataset.end = end;
      handle.addEventListener("keydown", (event) => this.onHandleKey(event, k, end));
      handle.addEventListener("focus", () => this.select(k));
      box.append(handle);
    }
    return box;
  }

  /** @param {HTMLElement} box @param {Span} span @param {number} k */
  placeSpan(box, span, k) {
    if (!this.table) return;
    const start = this.share(this.table.start(span.first));
    const end = this.share(this.table.end(span.last));
    box.style.left = `${100 * start}%`;
    box.style.width = `${100 * (end - start)}%`;
    box.className = `span ${span.kind || ""} ${k === this.selected ? "selected" : ""}`;
    /** @type {HTMLElement} */ (box.children[0]).textContent = span.label ?? String(k + 1);
    for (const handle of box.querySelectorAll(".handle")) {
      const isFirst = /** @type {HTMLElement} */ (handle).dataset.end === "first";
      const frame = isFirst ? span.first : span.last;
      const time = isFirst ? this.table.start(frame) : this.table.end(frame);
      const name = isFirst ? "start" : "end";
      /** @type {HTMLElement} */ (handle).hidden = this.isFixed || Boolean(span.isFixed);
      handle.setAttribute("aria-label", `${name} of moment ${k + 1}`);
      handle.setAttribute("aria-valuemin", "0");
      handle.setAttribute("aria-valuemax", String(this.table.count - 1));
      handle.setAttribute("aria-valuenow", String(frame));
      handle.setAttribute("aria-valuetext", `${name}, ${time.toFixed(2)} seconds, frame ${frame}`);
    }
  }

  /** @param {number} k */
  select(k) {
    if (k !== this.selected) this.dispatchEvent(new CustomEvent("select", { detail: k }));
  }

  /** @param {KeyboardEvent} event @param {number} k @param {"first" | "last"} end */
  onHandleKey(event, k, end) {
    if (!this.table || event.ctrlKey || event.altKey || event.metaKey) return;
    const by = event.shiftKey ? 10 : 1;
    const span = this.spans[k];
    const to = {
      ArrowLeft: span[end] - by, ArrowDown: span[end] - by, ArrowRight: span[end] + by, ArrowUp: span[end] + by,
      PageDown: span[end] - 10, PageUp: span[end] + 10, Home: 0, End: this.table.count - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.move(k, end, to, true);
  }

  /** @param {number} span @param {"first" | "last"} end @param {number} frame @param {boolean} done */
  move(span, end, frame, done) {
    if (!this.table) return;
    const detail = { span, end, frame: this.table.clamp(frame), done };
    this.dispatchEvent(new CustomEvent("move", { detail }));
  }

  /** @param {PointerEvent} event */
  onPointer(event) {
    if (!this.table || event.button > 0) return;
    const handle = /** @type {HTMLElement} */ (event.target).closest(".handle");
    const box = handle?.closest(".span");
    const k = box ? [...this.lane.children].indexOf(box) : -1;
    event.preventDefault();
    this.root.setPointerCapture(event.pointerId);
    if (handle instanceof HTMLElement) {
      handle.focus({ preventScroll: true });
      this.select(k);
    }
    const end = handle instanceof HTMLElement && handle.dataset.end === "first" ? "first" : "last";
    let frame = -1; // the one under the pointer; none yet
    /** @param {PointerEvent} at */
    const go = (at) => {
      if (!this.table) return;
      this.followPointer(at.clientX);
      frame = this.table.frameAt(Math.max(0, Math.min(this.timeAt(at.clientX), this.table.duration)));
      if (handle) this.move(k, end, frame, false);
      else this.dispatchEvent(new CustomEvent("seek", { detail: frame }));
    };
    this.endDrag = () => {
      this.root.removeEventListener("pointermove", go);
      for (const name of ["pointerup", "pointercancel"]) this.root.removeEventListener(name, onEnd);
      this.endDrag = null;
    };
    // A gesture that the browser takes over has changed the moment as far as it went: that is kept too.
    const onEnd = (/** @type {Event} */ at) => {
      if (at.type === "pointerup") go(/** @type {PointerEvent} */ (at));
      this.endDrag?.();
      if (handle && frame >= 0) this.move(k, end, frame, true);
    };
    if (!handle) go(event);
    this.root.addEventListener("pointermove", go);
    for (const name of ["pointerup", "pointercancel"]) this.root.addEventListener(name, onEnd);
  }

  /** Move the window when a pointer is dragged past its edge. @param {number} x */
  followPointer(x) {
    const time = this.timeAt(x);
    const width = this.to - this.from;
    if (time < this.from) this.setWindow(this.from - width / 20, this.to - width / 20);
    else if (time > this.to) this.setWindow(this.from + width / 20, this.to + width / 20);
  }

  /** @param {WheelEvent} event */
  onWheel(event) {
    const isPan = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!event.ctrlKey && !isPan) return;
    event.preventDefault();
    const width = this.to - this.from;
    const by = ((event.deltaX || event.deltaY) / 1000) * width;
    if (event.ctrlKey) this.zoom(event.deltaY > 0 ? 1.25 : 0.8);
    else this.setWindow(this.from + by, this.to + by);
  }
}

/** @param {import("./frames.js").FrameTable} table @param {Span} span @returns {string} as 0:07.13 – 0:10.40, 3.27 s */
export function spanText(table, span) {
  const start = table.start(span.first);
  const end = table.end(span.last);
  return `${clock(start)} – ${clock(end)}, ${(end - start).toFixed(2)} s`;
}
