// Seconds of work on a task: time in which the video plays, or shortly after a key or the pointer was used.

import { send } from "./api.js";

const ACTIVE_MS = 15000;
const ALIVE_MS = 60000;

export class WorkTime {
  /** @param {import("./player.js").Player} player */
  constructor(player) {
    this.player = player;
    /** @type {number | null} */
    this.task = null;
    this.seconds = 0;
    this.lastSign = Date.now();
    for (const name of ["pointerdown", "keydown", "wheel"]) {
      document.addEventListener(name, () => (this.lastSign = Date.now()), { capture: true, passive: true });
    }
    setInterval(() => this.task && !document.hidden && this.isActive(ACTIVE_MS) && (this.seconds += 1), 1000);
    setInterval(() => this.tellServer(), ALIVE_MS);
  }

  /** @param {number | null} task @param {number} seconds of work so far */
  start(task, seconds) {
    this.task = task;
    this.seconds = seconds;
  }

  /** @param {number} within milliseconds */
  isActive(within) {
    return this.player.isPlaying || Date.now() - this.lastSign < within;
  }

  /** Tell the server that somebody is working, which keeps the task with them. */
  tellServer() {
    if (!this.task || !this.isActive(ALIVE_MS)) return;
    send("POST", `/api/tasks/${this.task}/alive`, { active_s: this.seconds }).catch(() => {});
  }
}
