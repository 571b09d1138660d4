// A video that shows named frames. It seeks to the middle of a frame, and the browser reports which frame it shows.

import { FrameTable } from "./frames.js";

const PAINT_MS = 400; // longest wait for the report of a frame after a seek

export class Player extends EventTarget {
  /**
   * Events: "frame" (a frame is shown), "state" (play, pause, rate), "wrong" (a seek shows another frame), "broken".
   * @param {HTMLVideoElement} video
   */
  constructor(video) {
    super();
    this.video = video;
    /** @type {FrameTable | null} */
    this.table = null;
    this.frame = 0;
    /** @type {{first: number, last: number, loop: boolean, done: (() => void) | null} | null} the part that is played */
    this.part = null;
    /** @type {number | null} the frame that is being sought */
    this.wanted = null;
    this.isSeeking = false;
    video.addEventListener("play", () => this.tell("state"));
    video.addEventListener("pause", () => this.tell("state"));
    video.addEventListener("ratechange", () => this.tell("state"));
    video.addEventListener("ended", () => this.endOfPart());
    video.addEventListener("error", () => {
      if (video.getAttribute("src")) this.tell("broken");
    });
    this.watch();
  }

  /** @param {string} name */
  tell(name) {
    this.dispatchEvent(new Event(name));
  }

  /**
   * Show another video.
   * @param {string} address
   * @param {FrameTable} table
   */
  load(address, table) {
    this.unload();
    this.table = table;
    this.video.src = address;
    this.video.load();
    this.show(0);
  }

  /** Take the video away, which frees its connection. */
  unload() {
    this.video.pause();
    this.part = null;
    this.wanted = null;
    this.isSeeking = false;
    this.frame = 0;
    this.table = null;
    if (this.video.getAttribute("src")) {
      this.video.removeAttribute("src");
      this.video.load();
    }
  }

  get isPlaying() {
    return !this.video.paused && !this.video.ended;
  }

  /** Follow which frame the browser shows. */
  watch() {
    if (!("requestVideoFrameCallback" in this.video)) {
      const each = () => {
        if (this.table && !this.isSeeking) this.shown(this.table.frameAt(this.video.currentTime));
        requestAnimationFrame(each);
      };
      requestAnimationFrame(each);
      return;
    }
    /** @param {number} _ @param {VideoFrameCallbackMetadata} about */
    const each = (_, about) => {
      if (this.table) this.shown(this.table.frameOfStamp(about.mediaTime), true);
      this.video.requestVideoFrameCallback(each);
    };
    this.video.requestVideoFrameCallback(each);
  }

  /** @param {number} frame @param {boolean} isReported */
  shown(frame, isReported = false) {
    if (isReported && this.reported) this.reported(frame);
    if (this.isSeeking || frame === this.frame) return;
    this.frame = frame;
    this.tell("frame");
    if (this.part && this.isPlaying && frame >= this.part.last) this.endOfPart();
  }

  /** The part that is played is over: stop at its last frame, or start again. */
  endOfPart() {
    const part = this.part;
    if (!part) return;
    if (part.loop) {
      this.show(part.first).then(() => this.part === part && this.video.play().catch(() => {}));
    } else {
      this.video.pause();
      this.part = null;
      if (this.frame !== part.last) this.show(part.last);
    }
    if (part.done) part.done();
  }

  /**
   * Show a frame. Of several calls while the browser seeks, the last counts.
   * @param {number} frame
   * @returns {Promise<number>} the frame that is shown then
   */
  async show(frame) {
    if (!this.table) return 0;
    this.wanted = this.table.clamp(frame);
    if (!this.isSeeking) this.seeking = this.seekUntilShown();
    await this.seeking;
    return this.frame;
  }

  /** Show a frame in place of what is played. @param {number} frame @returns {Promise<number>} as `show` */
  goTo(frame) {
    this.part = null;
    return this.show(frame);
  }

  async seekUntilShown() {
    this.isSeeking = true;
    const table = this.table;
    try {
      for (let tries = 0; this.wanted !== null && this.table === table && table; ) {
        const wanted = this.wanted;
        const shown = await this.seek(table.middle(wanted));
        if (this.table !== table) return;
        this.frame = shown;
        this.tell("frame");
        if (this.wanted !== wanted) {
          tries = 0; // another one was asked for meanwhile
        } else if (shown === wanted || tries++ > 0) {
          this.wanted = null;
          if (shown !== wanted) this.tell("wrong");
        }
      }
    } finally {
      if (this.table === table) this.isSeeking = false;
    }
  }

  /** @param {number} time @returns {Promise<number>} the frame that the browser reports, else the one of the time */
  seek(time) {
    const { video, table } = this;
    return new Promise((resolve) => {
      /** @type {number | null} */
      let reported = null;
      let isSought = false;
      let timer = 0;
      const finish = () => {
        clearTimeout(timer);
        if (this.reported === onReport) this.reported = null;
        video.removeEventListener("seeked", onSeeked);
        video.removeEventListener("error", finish);
        resolve(reported ?? (table ? table.frameAt(video.currentTime) : 0));
      };
      const onSeeked = () => {
        isSought = true;
        if (reported !== null || !("requestVideoFrameCallback" in video)) finish();
        else timer = setTimeout(finish, document.hidden ? 0 : PAINT_MS);
      };
      const onReport = (/** @type {number} */ frame) => {
        reported = frame;
        if (isSought) finish();
      };
      /** @type {((frame: number) => void) | null} */
      this.reported = onReport;
      video.addEventListener("seeked", onSeeked);
      video.addEventListener("error", finish);
      video.currentTime = time;
    });
  }

  /** Play on from here, or pause. */
  toggle() {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  play() {
    this.part = null;
    if (this.table && this.frame >= this.table.count - 1) this.show(0).then(() => this.video.play().catch(() => {}));
    else this.video.play().catch(() => {});
  }

  pause() {
    this.part = null;
    this.video.pause();
    if (this.table) this.show(this.frame);
  }

  /**
   * Play frames `first` to `last`.
   * @param {number} first
   * @param {number} last
   * @param {{loop?: boolean, done?: () => void}} how `done` is called at each end
   */
  async playPart(first, last, how = {}) {
    if (!this.table) return;
    const part = { first, last: Math.min(last, this.table.count - 1), loop: how.loop || false, done: how.done || null };
    this.video.pause();
    this.part = part;
    await this.show(first);
    if (this.part !== part) return;
    if (part.last <= this.frame) this.endOfPart();
    else await this.video.play().catch(() => {});
  }

  /** @param {number} by frames */
  step(by) {
    this.part = null;
    if (this.isPlaying) this.video.pause();
    return this.show((this.wanted ?? this.frame) + by);
  }

  /** @param {number} by seconds */
  jump(by) {
    if (!this.table) return Promise.resolve(0);
    this.part = null;
    const from = this.table.start(this.wanted ?? this.frame);
    return this.show(this.table.frameAt(Math.max(0, from + by + 1e-6)));
  }

  /** @param {number} rate 1 is the speed of the video */
  setRate(rate) {
    this.video.playbackRate = rate;
  }
}
