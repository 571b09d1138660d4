// Small pictures of the whole video, with the window of the time line on them, which can be dragged.

export class Overview {
  /**
   * @param {HTMLElement} root
   * @param {import("./timeline.js").Timeline} timeline
   * @param {(frame: number) => void} seek
   */
  constructor(root, timeline, seek) {
    this.root = root;
    this.timeline = timeline;
    root.classList.add("overview");
    this.canvas = document.createElement("canvas");
    this.window = document.createElement("div");
    this.window.className = "window";
    this.head = document.createElement("div");
    this.head.className = "playhead";
    root.append(this.canvas, this.window, this.head);
    /** @type {HTMLImageElement | null} */
    this.image = null;
    timeline.addEventListener("window", () => this.place());
    new ResizeObserver(() => this.draw()).observe(root);
    root.addEventListener("pointerdown", (event) => this.onPointer(event, seek));
  }

  /**
   * @param {string} address of the pictures
   * @param {{times: number[], width: number, height: number, columns: number}} layout
   */
  load(address, layout) {
    this.layout = layout;
    const image = new Image();
    this.loading = image;
    image.onload = () => {
      if (this.loading !== image) return; // pictures of another video are wanted by now
      this.image = image;
      this.draw();
    };
    this.image = null;
    image.src = address;
    this.draw();
    this.place();
  }

  draw() {
    const { canvas, root, image, layout, timeline } = this;
    const scale = window.devicePixelRatio || 1;
    canvas.width = root.clientWidth * scale;
    canvas.height = root.clientHeight * scale;
    const pen = canvas.getContext("2d");
    if (!pen || !image || !layout || !timeline.table) return;
    pen.scale(scale, scale);
    const height = root.clientHeight;
    const width = (layout.width * height) / layout.height;
    for (let x = 0; x < root.clientWidth; x += width) {
      const time = ((x + width / 2) / root.clientWidth) * timeline.table.duration;
      const k = nearest(layout.times, time);
      const left = (k % layout.columns) * layout.width;
      const top = Math.floor(k / layout.columns) * layout.height;
      pen.drawImage(image, left, top, layout.width, layout.height, x, 0, width, height);
    }
  }

  place() {
    const { timeline } = this;
    if (!timeline.table) return;
    const whole = timeline.table.duration;
    this.window.style.left = `${(100 * timeline.from) / whole}%`;
    this.window.style.width = `${(100 * (timeline.to - timeline.from)) / whole}%`;
    this.window.hidden = timeline.to - timeline.from > 0.999 * whole;
    this.head.style.left = `${(100 * timeline.table.middle(timeline.frame)) / whole}%`;
  }

  /** @param {PointerEvent} event @param {(frame: number) => void} seek */
  onPointer(event, seek) {
    const { timeline, root } = this;
    if (!timeline.table || event.button > 0) return;
    event.preventDefault();
    root.setPointerCapture(event.pointerId);
    const isWindow = event.target === this.window;
    const start = { x: event.clientX, from: timeline.from, to: timeline.to };
    /** @param {PointerEvent} at */
    const go = (at) => {
      if (!timeline.table) return;
      const box = root.getBoundingClientRect();
      const seconds = timeline.table.duration / Math.max(1, box.width);
      if (isWindow) {
        const by = (at.clientX - start.x) * seconds;
        timeline.setWindow(start.from + by, start.to + by);
      } else {
        seek(timeline.table.clamp(timeline.table.frameAt(Math.max(0, (at.clientX - box.left) * seconds))));
      }
    };
    if (!isWindow) go(event);
    const end = () => root.removeEventListener("pointermove", go);
    root.addEventListener("pointermove", go);
    root.addEventListener("pointerup", end, { once: true });
    root.addEventListener("pointercancel", end, { once: true });
  }
}

/** @param {number[]} times @param {number} time @returns {number} position of the nearest one */
function nearest(times, time) {
  let best = 0;
  for (let k = 1; k < times.length; k++) {
    if (Math.abs(times[k] - time) < Math.abs(times[best] - time)) best = k;
  }
  return best;
}
