// Moments in place: six pictures while the pointer or the focus rests on a card, and the one video of the page.

import { get } from "./api.js";
import { FrameTable } from "./frames.js";
import { previewAddress } from "./moments.js";
import { ROOT, wait } from "./page.js";
import { Player } from "./player.js";

const RESTS_MS = 150;
const N_PICTURES = 6; // of a moment, side by side
const STEP_MS = 450;
const BEFORE_S = 0.3; // a moment is played from a little before its start
const NOMINAL = 25; // frames a second, until the frame table is there

/** Pictures of a moment, one after another, over the screen of a card. */
export class Preview {
  /** @param {HTMLElement} screen @param {() => import("./moments.js").Moment} moment */
  constructor(screen, moment) {
    this.screen = screen;
    this.moment = moment;
    this.timer = 0;
    /** @type {HTMLElement | null} */
    this.sheet = null;
  }

  start() {
    clearTimeout(this.timer);
    if (!this.sheet) this.timer = setTimeout(() => this.show(), RESTS_MS);
  }

  show() {
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const pictures = new Image();
    pictures.alt = "";
    const sheet = document.createElement("div");
    sheet.className = isStill ? "sheet still" : "sheet";
    sheet.hidden = true;
    sheet.append(pictures);
    pictures.onload = () => {
      sheet.hidden = false;
      if (isStill) return;
      const shape = pictures.naturalWidth / N_PICTURES / pictures.naturalHeight;
      sheet.style.setProperty("--shape", String(shape));
      this.step(sheet, 0);
    };
    pictures.src = previewAddress(this.moment());
    this.sheet = sheet;
    this.screen.append(sheet);
  }

  /** @param {HTMLElement} sheet @param {number} number */
  step(sheet, number) {
    if (this.sheet !== sheet) return;
    const pictures = /** @type {HTMLElement} */ (sheet.firstElementChild);
    pictures.style.left = `${-100 * (number % N_PICTURES)}%`;
    this.timer = setTimeout(() => this.step(sheet, number + 1), STEP_MS);
  }

  stop() {
    clearTimeout(this.timer);
    this.sheet?.remove();
    this.sheet = null;
  }
}

/** The one video of the page, which moves to where a moment is played. */
export class Stage extends EventTarget {
  /** Events: "state" (plays, pauses, ends), "trouble" (detail: one line). @param {HTMLVideoElement} video */
  constructor(video) {
    super();
    this.video = video;
    this.player = new Player(video);
    /** @type {HTMLElement | null} */
    this.screen = null;
    /** @type {import("./moments.js").Moment | null} */
    this.moment = null;
    this.loop = false;
    this.turn = 0;
    this.player.addEventListener("state", () => this.dispatchEvent(new Event("state")));
    this.player.addEventListener("broken", () => this.screen && this.trouble("the browser cannot play this video"));
  }

  get isPlaying() {
    return this.player.isPlaying;
  }

  /** @param {string} text */
  trouble(text) {
    this.leave();
    this.dispatchEvent(new CustomEvent("trouble", { detail: text }));
  }

  /** Take the video away, which frees its connection. */
  leave() {
    this.turn += 1;
    this.player.unload();
    this.video.hidden = true;
    document.body.append(this.video);
    this.screen = null;
    this.moment = null;
    this.dispatchEvent(new Event("state"));
  }

  /**
   * Play a moment over an element.
   * @param {HTMLElement} screen
   * @param {import("./moments.js").Moment} moment
   * @param {{loop?: boolean, done?: () => void}} how
   */
  async play(screen, moment, how = {}) {
    this.leave();
    const turn = this.turn;
    this.screen = screen;
    this.moment = moment;
    this.loop = how.loop || false;
    const video = await this.playable(moment.v, turn);
    if (!video || turn !== this.turn) return;
    const table = video.frames
      ? new FrameTable(await get(`/media/${moment.v}/frames.json`))
      : new FrameTable({ tick: [1, NOMINAL], runs: [[0, 1, 1e7]], end: 1e7 });
    if (turn !== this.turn) return;
    screen.append(this.video);
    this.video.hidden = false;
    this.player.load(`${ROOT}/media/${moment.v}`, table);
    const first = table.frameAt(Math.max(0, moment.start_s - BEFORE_S));
    const last = Math.max(first, table.frameAt(Math.max(moment.start_s, moment.end_s - 1e-6)));
    await this.player.playPart(first, last, how);
  }

  /** @param {number} v @param {number} turn @returns {Promise<{state: string, frames: boolean} | null>} */
  async playable(v, turn) {
    while (turn === this.turn) {
      const video = await get(`/api/videos/${v}`).catch((error) => ({ state: "not playable", why: error.message }));
      if (video.state === "original" || video.state === "copy") return video;
      if (video.state === "not playable") {
        this.trouble(`cannot be played: ${video.why}`);
        return null;
      }
      this.dispatchEvent(new CustomEvent("waiting", { detail: `a copy that browsers play is being made (${video.why})` }));
      await wait(1500);
    }
    return null;
  }
}
