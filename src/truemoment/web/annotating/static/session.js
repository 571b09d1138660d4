// What the pages for marking and for judging share: the task that is shown, saving, and submitting.

import { Ahead } from "./ahead.js";
import { answerOf, bothOf } from "./answer.js";
import { RequestError, get, send } from "./api.js";
import { Controls } from "./controls.js";
import { showConflict, showFeedback } from "./dialogs.js";
import { byId, printable } from "./page.js";
import { FrameTable } from "./frames.js";
import { hint, problem, showPart, showSaving } from "./messages.js";
import { Outbox } from "./outbox.js";
import { Overview } from "./overview.js";
import { Player } from "./player.js";
import { Timeline } from "./timeline.js";
import { WorkTime } from "./work_time.js";

const WAITS_MS = [1000, 2000, 4000, 8000];
const PREPARING_MS = 500;
const NO_VIDEO = "The video does not play in this browser. Choose “does not play”, and submit.";
const NO_LINK = "Your link is no longer valid. Ask the owner for a new one. Unsaved changes stay in this browser.";

export class Session {
  /**
   * @param {{load: () => void, take: (answer: import("./answer.js").Answer) => void}} page `load` shows this.task; `take`
   *   shows another answer in place of the one that is shown
   */
  constructor(page) {
    this.page = page;
    this.player = new Player(byId("video"));
    this.timeline = new Timeline(byId("timeline"));
    this.overview = new Overview(byId("overview"), this.timeline, (frame) => this.player.goTo(frame));
    this.controls = new Controls(this.player, this.timeline, this.overview);
    this.time = new WorkTime(this.player);
    this.ahead = new Ahead();
    /** @type {any} */
    this.task = null;
    /** @type {FrameTable | null} */
    this.table = null;
    this.version = 0; // of the answer that the server is known to have
    this.isLoading = true;
    this.isSubmitting = false;
    /** @type {object | null} the latest one; an earlier one that ends later does nothing */
    this.submission = null;
    /** @type {object | null} the latest way to a task */
    this.entry = null;
    this.timer = 0;
    this.player.addEventListener("wrong", () => hint("This browser did not show the right frame. Please use Chromium or Chrome."));
    this.player.addEventListener("broken", () => this.onBroken());
    this.player.addEventListener("frame", () => this.lookAhead());
    byId("previous").addEventListener("click", () => this.previous());
    byId("last").addEventListener("click", () => this.previous());
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
    outbox.addEventListener("state", (event) => {
      const state = /** @type {CustomEvent} */ (event).detail;
      showSaving(state, outbox.queue.length);
      if (state === "saved") problem("", "saving");
      if (state !== "saved" && state !== "saving") this.setSubmitting(false); // the person can work meanwhile
    });
    outbox.addEventListener("stored", (event) => {
      const { change, answer } = /** @type {CustomEvent} */ (event).detail;
      if (this.task?.task === change.task) this.version = Math.max(this.version, answer.version);
    });
    outbox.addEventListener("conflict", (event) => this.resolve(/** @type {CustomEvent} */ (event).detail));
    outbox.addEventListener("failed", (event) => problem(/** @type {CustomEvent} */ (event).detail.message, "saving"));
    outbox.addEventListener("refused", (event) => {
      const error = /** @type {CustomEvent} */ (event).detail;
      problem(error.status === 401 ? NO_LINK : error.message);
    });
  }

  /** Whether the answer can be changed: a task is shown, and none is being loaded or submitted. */
  get isReady() {
    return this.task !== null && !this.isLoading && !this.isSubmitting;
  }

  /** @param {boolean} isLoading */
  setLoading(isLoading) {
    this.isLoading = isLoading;
    byId("work").inert = !this.isReady;
  }

  /** @param {boolean} isSubmitting */
  setSubmitting(isSubmitting) {
    this.isSubmitting = isSubmitting;
    byId("work").inert = !this.isReady;
  }

  /** @param {unknown} error */
  fail(error) {
    if (error instanceof RequestError && error.status === 401) location.href = "/in";
    else problem(error instanceof Error ? error.message : String(error));
  }

  // ------------------------------------------------------------------------------------------- tasks

  /** Open the next task. @param {number | null} after the task that the person leaves */
  next(after) {
    return this.enter((isLatest) => this.loadNext(after, isLatest));
  }

  /** Open a task. @param {number} number */
  open(number) {
    return this.enter(async (isLatest) => {
      const [task] = await Promise.all([get(`/api/tasks/${number}`), this.showProgress()]);
      return this.load(task, isLatest);
    });
  }

  /** Go back to the task before; from the last page, to the last task. */
  previous() {
    if (this.task && !this.isReady) return;
    const number = this.task ? this.task.before : this.me?.progress.last;
    if (number) this.open(number).catch((error) => this.fail(error));
  }

  /** Run a step that shows a task; while the server does not answer, try again. @param {(isLatest: () => boolean) => Promise<void>} step */
  async enter(step) {
    clearTimeout(this.timer);
    const entry = (this.entry = {});
    const isLatest = () => this.entry === entry;
    this.setLoading(true);
    try {
      for (let tries = 0; isLatest(); tries++) {
        try {
          await this.outbox?.still(() => step(isLatest));
          return problem("", "loading");
        } catch (error) {
          const isTemporary = error instanceof RequestError && (error.status === 0 || error.status === 429 || error.status >= 500);
          if (!isTemporary) throw error;
          problem(`${error.message} The page tries again.`, "loading");
          await new Promise((resolve) => setTimeout(resolve, WAITS_MS[Math.min(tries, WAITS_MS.length - 1)]));
        }
      }
    } finally {
      if (isLatest()) this.setLoading(false);
    }
  }

  /** @param {number | null} after @param {() => boolean} isLatest */
  async loadNext(after, isLatest) {
    const [next] = await Promise.all([send("POST", "/api/next", { after }), this.showProgress()]);
    if (next && next.task !== null) return this.load(next, isLatest);
    if (!isLatest()) return;
    this.task = null;
    this.time.start(null, 0);
    this.player.unload();
    history.replaceState(null, "", "/task");
    showPart(next ? "waiting" : "done");
    byId("last").hidden = !this.me.progress.last;
    if (!next) return;
    byId("waiting-text").textContent = `${next.preparing} videos are not ready yet. The page continues when one is.`;
    this.timer = setTimeout(() => this.next(null).catch((error) => this.fail(error)), PREPARING_MS);
  }

  /**
   * Show a task. All that it needs is read first; then the page changes in one step, so that no change can reach the wrong task.
   * @param {any} task @param {() => boolean} isLatest
   */
  async load(task, isLatest) {
    const frames = await this.ahead.take(task.video);
    if (!isLatest()) return;
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    this.task = task;
    this.version = task.version;
    this.time.start(task.task, task.answer?.active_s || 0);
    hint("");
    problem(frames ? "" : NO_VIDEO);
    showPart("work");
    history.replaceState(null, "", `/${this.me.settings.task === "verify" ? "verify" : "task"}/${task.task}`);
    byId("sentence").textContent = printable(task.sentence);
    byId("practice").hidden = !task.practice;
    byId("previous").disabled = task.before === null;
    this.showVideo(task, frames);
    this.page.load();
    const left = this.outbox?.newest(task.task);
    if (left) {
      this.version = left.base;
      this.page.take(answerOf(left.body));
      hint("An unsaved change was found in this browser. It is being saved now.");
    }
    this.setLoading(false);
    byId("sentence").focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  /** The first frame is there: read what the next task needs. In an open study nobody knows it before its turn. */
  lookAhead() {
    if (this.task && !this.isLoading && this.me.settings.dealt) this.ahead.look(this.task.task);
  }

  /** @param {any} task @param {any} frames */
  showVideo(task, frames) {
    this.table = frames && new FrameTable(frames);
    this.timeline.load(this.table);
    this.timeline.setPeaks(null);
    if (!this.table) return this.player.unload();
    this.overview.load(`/media/${task.video}/strip.jpg`, frames.strip);
    this.player.load(`/media/${task.video}`, this.table);
    if (this.me.settings.sound && frames.has_peaks) this.loadPeaks(task);
  }

  /** @param {any} task */
  async loadPeaks(task) {
    const response = await fetch(`/media/${task.video}/peaks.bin`).catch(() => null);
    const peaks = response?.ok ? await response.arrayBuffer().catch(() => null) : null;
    if (peaks && this.task === task) this.timeline.setPeaks(new Uint8Array(peaks));
  }

  /** The video does not play; if the server does not send it now, try again. */
  async onBroken() {
    const { task, table } = this;
    const reply = task && (await fetch(`/media/${task.video}`, { method: "HEAD" }).catch(() => null));
    if (!task || !table || this.task !== task) return;
    if (reply && reply.status !== 429) return problem(NO_VIDEO);
    problem("The server cannot send the video now. The page tries again.", "video");
    setTimeout(() => {
      if (this.task !== task) return;
      problem("", "video");
      this.player.load(`/media/${task.video}`, table);
    }, 2000);
  }

  // ------------------------------------------------------------------------------------------ saving

  /** @param {import("./answer.js").Answer} answer @param {boolean} submit @param {boolean} now */
  save(answer, submit = false, now = submit) {
    const body = { ...answer, submit, active_s: this.time.seconds };
    return this.outbox?.put(this.task.task, this.version, body, now);
  }

  /** Submit an answer. The next task opens once it is stored, unless it was changed again. @param {any} answer */
  async submit(answer) {
    const change = this.isReady && this.save(answer, true);
    if (!change || !this.outbox) return;
    const submission = (this.submission = {});
    this.setSubmitting(true);
    const { answer: saved, error } = await this.outbox.outcome(change);
    if (this.submission !== submission || this.task?.task !== change.task) return; // submitted again, or left
    this.setSubmitting(false);
    if (saved?.state !== "submitted" || this.outbox.newest(change.task)) {
      if (!error) hint("The answer has changed since you submitted it. Please submit it again.");
      return;
    }
    this.setLoading(true);
    if (saved.feedback) await showFeedback(byId("feedback"), saved.feedback);
    await this.next(change.task).catch((failure) => this.fail(failure));
  }

  /** Another tab has changed the answer: the person chooses. @param {{change: any, version: number, answer: any}} detail */
  async resolve({ change, version, answer }) {
    const waiting = this.outbox?.newest(change.task)?.body || change.body;
    const mine = answerOf(waiting);
    const theirs = answerOf(answer);
    const isShown = () => this.task?.task === change.task;
    const choice = await showConflict(byId("conflict"), mine, theirs, isShown() ? this.table : null);
    const chosen = { mine, theirs, both: bothOf(mine, theirs) }[choice];
    if (isShown()) {
      this.version = version;
      this.page.take(answerOf(chosen));
    }
    this.outbox?.drop(change.task);
    if (choice !== "theirs") this.outbox?.put(change.task, version, { ...chosen, active_s: waiting.active_s || 0 }, true);
  }

  async showProgress() {
    this.me = (await get("/api/me")) || this.me;
    const { done, of, closed } = this.me.progress;
    byId("progress").textContent = closed ? "the study is closed" : `${done} of ${of} done`;
  }
}
