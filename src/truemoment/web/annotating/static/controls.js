// Buttons and texts around the video: play, step, speed, sound, zoom, and which frame is shown.

import { byId } from "./page.js";
import { clock } from "./frames.js";

const RATES = [1, 1.5, 2, 4];

export class Controls {
  /**
   * @param {import("./player.js").Player} player
   * @param {import("./timeline.js").Timeline} timeline
   * @param {import("./overview.js").Overview} overview
   */
  constructor(player, timeline, overview) {
    this.player = player;
    player.addEventListener("frame", () => {
      if (!player.table) return;
      timeline.setFrame(player.frame);
      overview.place();
      byId("place").textContent = `${clock(player.table.start(player.frame))} · frame ${player.frame} / ${player.table.count - 1}`;
    });
    player.addEventListener("state", () => this.show());
    timeline.addEventListener("seek", (event) => player.goTo(/** @type {CustomEvent} */ (event).detail));
    byId("play").addEventListener("click", () => player.toggle());
    byId("back").addEventListener("click", () => player.step(-1));
    byId("on").addEventListener("click", () => player.step(1));
    byId("rate").addEventListener("click", () => this.changeRate());
    byId("mute").addEventListener("click", () => this.mute());
    byId("zoom-in").addEventListener("click", () => timeline.zoom(0.5));
    byId("zoom-out").addEventListener("click", () => timeline.zoom(2));
  }

  show() {
    byId("play-sign").textContent = this.player.isPlaying ? "❚❚" : "▶";
    byId("play-word").textContent = this.player.isPlaying ? "Pause" : "Play";
    byId("rate").textContent = `${this.player.video.playbackRate}x`;
  }

  changeRate() {
    const at = RATES.indexOf(this.player.video.playbackRate);
    this.player.setRate(RATES[(at + 1) % RATES.length]);
  }

  /** Play, and faster each time. */
  faster() {
    if (this.player.isPlaying) return this.changeRate();
    this.player.setRate(1);
    this.player.play();
  }

  mute() {
    const { video } = this.player;
    video.muted = !video.muted;
    byId("mute").setAttribute("aria-pressed", String(video.muted));
    byId("mute-word").textContent = video.muted ? "Sound off" : "Sound";
  }
}
