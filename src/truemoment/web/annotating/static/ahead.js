// What the next task needs is read while the person works on this one, so that its first frame appears sooner.

import { get, send } from "./api.js";

const HEAD_BYTES = 1 << 19; // of a video: its index, which comes first, and the first second or two

/** @param {number} video @returns {Promise<any>} its frames; null if it is not there */
export function framesOf(video) {
  return get(`/media/${video}/frames.json`).catch((error) => {
    if (error.status === 404) return null;
    throw error;
  });
}

export class Ahead {
  constructor() {
    /** @type {Map<number, any>} frames of the video that is shown, and of the next one */
    this.frames = new Map();
    /** @type {number | null} the task after which was looked last */
    this.after = null;
  }

  /**
   * Read the frame table and the beginning of the next task's video. The task itself is asked for again when its turn
   * comes: it may have changed. A failure does nothing: then all is read at its turn.
   * @param {number} after the task that is shown
   */
  async look(after) {
    if (this.after === after) return;
    this.after = after;
    try {
      const { video } = (await send("POST", "/api/next", { after })) || {};
      if (!video || this.frames.has(video) || this.after !== after) return;
      const frames = await framesOf(video);
      if (!frames || this.after !== after) return;
      this.frames.set(video, frames);
      const head = await fetch(`/media/${video}`, { headers: { Range: `bytes=0-${HEAD_BYTES - 1}` } });
      await head.arrayBuffer(); // the browser's cache keeps it
    } catch {
      // at its turn
    }
  }

  /** @param {number} video that is shown now @returns {Promise<any>} its frames; null if it is not there */
  async take(video) {
    const frames = this.frames.get(video) || (await framesOf(video));
    this.frames = new Map(frames && [[video, frames]]);
    return frames;
  }
}
