// What the pages for marking and for judging share: the task, the player, saving, time of work, and messages.

import { RequestError, get, send } from "./api.js";
import { FrameTable, clock } from "./frames.js";
import { Outbox } from "./outbox.js";
import { Overview } from "./overview.js";
import { Player } from "./player.js";
import { Timeline } from "./timeline.js";

const IDLE_MS = 60000;
const WORDS = {
  saved: "saved", saving: "saving", conflict: "conflict: open in another tab", refused: "refused: this link is no longer valid",
};

/** @param {string} id @returns {any} */
export function byId(id) {
  return document.getElementById(id);
}

export class Session {
  /**
   * @param {{load: () => void, left: (body: any) => void, conflict: (detail: any) => void, stored: (detail: any) => void}} page
   *   `load` shows this.task; `left` takes up an answer that was not stored
   */
  constructor(page) {
    this.page = page;
    this.player = new Player(byId("video"));
    this.timeline = new Timeline(byId("timeline"));
    this.overview = new Overview(byId("overview"), this.timeline, (frame) => this.player.show(frame));
    /** @type {any} */
    this.task = null;
    this.version = 0;
    this.active = 0;
    this.lastSign = Date.now();
    this.rates = [1, 1.5, 2, 4];
    this.player.addEventListener("frame", () => this.showPlace());
    this.player.addEventListener("state", () => this.showState());
    this.player.addEventListener("wrong", () => this.say("This browser shows another frame than asked for.", true));
    this.player.addEventListener("broken", () => this.say("The video does not play here. Say so below, and go on.", true));
    this.timeline.addEventListener("seek", (event) => this.player.show(/** @type {CustomEvent} */ (event).detail));
    byId("play").addEventListener("click", () => this.player.toggle());
    byId("back").addEventListener("click", () => this.player.step(-1));
    byId("on").addEventListener("click", () => this.player.step(1));
    byId("rate").addEventListener("click", () => this.faster());
    byId("mute").addEventListener("click", () => this.mute());
    byId("zoom-in").addEventListener("click", () => this.timeline.zoom(0.5));
    byId("zoom-out").addEventListener("click", () => this.timeline.zoom(2));
    byId("previous").addEventListener("click", () => this.previous());
    for (const name of ["pointerdown", "keydown", "wheel"]) {
      document.addEventListener(name, () => this.sign(), { capture: true, passive: true });
    }
    setInterval(() => this.tick(), 1000);
    setInterval(() => this.alive(), IDLE_MS);
  }

  /** Begin: who this is, what waits, and the task of the address or the next one. */
  async start() {
    try {
      this.me = await get("/api/me");
      this.outbox = new Outbox(`${this.me.settings.study}/${this.me.progress.name}`);
      this.listen(this.outbox);
      await this.outbox.restore().catch(() => []);
      const number = Number(location.pathname.split("/")[2]);
      await (number ? this.open(number) : this.next(null));
    } catch (error) {
      this.fail(error);
    }
  }

  /** @param {Outbox} outbox */
  listen(outbox) {
    outbox.addEventListener("state", (event) => this.showSaving(/** @type {CustomEvent} */ (event).detail));
    outbox.addEventListener("stored", (event) => {
      const { change, answer } = /** @type {CustomEvent} */ (event).detail;
      if (this.task?.task === change.task) this.version = Math.max(this.version, answer.version);
      this.page.stored(/** @type {CustomEvent} */ (event).detail);
    });
    outbox.addEventListener("conflict", (event) => this.page.conflict(/** @type {CustomEvent} */ (event).detail));
    outbox.addEventListener("refused", (event) => {
      const error = /** @type {CustomEvent} */ (event).detail;
      const isLink = error.status === 401;
      this.say(isLink ? "Your link is no longer valid. What is not saved stays in this browser." : error.message, true);
    });
  }

  /** @param {unknown} error */
  fail(error) {
    if (error instanceof RequestError && error.status === 401) location.href = "/in";
    else this.say(error instanceof Error ? error.message : String(error), true);
  }

  /** Open the next task. @param {number | null} after the task that the person leaves */
  next(after) {
    return this.outbox.still(() => this.loadNext(after));
  }

  /** Open a task. @param {number} number */
  open(number) {
    return this.outbox.still(() => this.loadTask(number));
  }

  /** @param {number | null} after */
  async loadNext(after) {
    const found = await send("POST", "/api/next", { after });
    await this.showProgress();
    byId("done").hidden = found !== null;
    byId("waiting").hidden = !found || found.task !== null;
    byId("work").hidden = !found || found.task === null;
    if (!found || found.task === null) {
      this.task = null;
      this.player.unload();
      history.replaceState(null, "", "/task");
      if (!found) return;
      byId("waiting-text").textContent = `${found.preparing} are not ready yet. This page goes on by itself.`;
      setTimeout(() => this.next(null).catch((error) => this.fail(error)), 1500);
      return;
    }
    await this.load(found);
  }

  /** @param {number} number */
  async loadTask(number) {
    await this.showProgress();
    const found = await get(`/api/tasks/${number}`);
    byId("work").hidden = false;
    byId("done").hidden = true;
    await this.load(found);
  }

  /** @param {any} task */
  async load(task) {
    this.task = task;
    this.version = task.version;
    this.active = task.answer?.active_s || 0;
    this.say("");
    const kind = this.me.settings.task === "verify" ? "verify" : "task";
    history.replaceState(null, "", `/${kind}/${task.task}`);
    byId("sentence").textContent = task.sentence;
    byId("practice").hidden = !task.practice;
    byId("previous").disabled = task.before === null;
    const frames = await get(`/media/${task.video}/frames.json`);
    if (this.task !== task) return;
    this.table = new FrameTable(frames);
    this.timeline.load(this.table);
    this.timeline.setPeaks(null);
    this.overview.load(`/media/${task.video}/strip.jpg`, frames.strip);
    this.player.load(`/media/${task.video}`, this.table);
    if (this.me.settings.sound && frames.has_peaks) this.loadPeaks(task);
    this.page.load();
    const left = this.outbox?.newest(task.task);
    if (left) {
      this.version = left.base;
      this.page.left(left.body);
    }
    byId("sentence").focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  /** @param {any} task */
  async loadPeaks(task) {
    const response = await fetch(`/media/${task.video}/peaks.bin`).catch(() => null);
    if (response?.ok && this.task === task) this.timeline.setPeaks(new Uint8Array(await response.arrayBuffer()));
  }

  /** @param {any} body an answer @param {boolean} now */
  save(body, now = false) {
    this.outbox?.put(this.task.task, this.version, { ...body, active_s: Math.round(this.active) }, now);
  }

  previous() {
    if (this.task?.before) this.open(this.task.before).catch((error) => this.fail(error));
  }

  faster() {
    const at = this.rates.indexOf(this.player.video.playbackRate);
    this.player.setRate(this.rates[(at + 1) % this.rates.length]);
  }

  mute() {
    this.player.video.muted = !this.player.video.muted;
    byId("mute").setAttribute("aria-pressed", String(this.player.video.muted));
    byId("mute").textContent = this.player.video.muted ? "sound off" : "sound";
  }

  showPlace() {
    if (!this.table) return;
    const { frame } = this.player;
    this.timeline.setFrame(frame);
    this.overview.place();
    byId("place").textContent = `${clock(this.table.start(frame))}   frame ${frame} / ${this.table.count - 1}`;
  }

  showState() {
    byId("play-sign").textContent = this.player.isPlaying ? "❚❚" : "▶";
    byId("play-word").textContent = this.player.isPlaying ? "pause" : "play";
    byId("rate").textContent = `${this.player.video.playbackRate}x`;
  }

  async showProgress() {
    this.me = (await get("/api/me")) || this.me;
    const { done, of, closed } = this.me.progress;
    byId("progress").textContent = closed ? "the study is closed" : `${done} of ${of} done`;
  }

  /** @param {keyof typeof WORDS | "offline"} state */
  showSaving(state) {
    const place = byId("saving");
    const count = this.outbox?.queue.length || 0;
    const text = state === "offline" ? `offline: ${count} change${count === 1 ? "" : "s"} wait here` : WORDS[state];
    place.dataset.state = state;
    if (place.textContent === text) return;
    place.textContent = text;
    if (state !== "saving" && state !== "saved") this.announce(text);
  }

  /** Say something to people who do not see. @param {string} text */
  announce(text) {
    byId("live").textContent = text;
  }

  /** @param {string} text a problem, or a hint @param {boolean} isProblem */
  say(text, isProblem = false) {
    const place = byId("problem");
    place.hidden = !text || !isProblem;
    if (isProblem) place.textContent = text;
    if (!isProblem && byId("hint")) byId("hint").textContent = text;
  }

  sign() {
    this.lastSign = Date.now();
  }

  tick() {
    const isActive = this.player.isPlaying || Date.now() - this.lastSign < 15000;
    if (this.task && isActive && !document.hidden) this.active += 1;
  }

  alive() {
    if (!this.task || Date.now() - this.lastSign > IDLE_MS) return;
    send("POST", `/api/tasks/${this.task.task}/alive`, { active_s: Math.round(this.active) }).catch(() => {});
  }
}
