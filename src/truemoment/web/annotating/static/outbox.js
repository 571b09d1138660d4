// Changes on their way to the server. Each is kept in IndexedDB until the server has stored it, so that a crash, a closed
// tab or a lost connection costs nothing. They are sent one after another, oldest first.

import { RequestError, send } from "./api.js";
import { KeptChanges } from "./kept_changes.js";

const WAITS_MS = [500, 1000, 2000, 4000, 8000, 15000, 30000];
const QUIET_MS = 300;
const TIMEOUT_MS = 20000; // longest wait for an answer; the change is sent again with the same key
const CLOSING_MS = 500; // longest wait for an earlier page of this browser to close

/**
 * @typedef {{id?: number, owner: string, tab: string, task: number, key: string, base: number, body: any, made: number}} Change
 * @typedef {{answer?: any, error?: RequestError}} Outcome `answer` of the server if the change is stored, `error` if the server
 *   refuses it; neither if the person has dropped it
 */

export class Outbox extends EventTarget {
  /**
   * Events: "state" (detail: "saved", "saving", "offline", "failed", "refused", "conflict"), "stored" (detail: {change,
   * answer}), "conflict" (detail: {change, version, answer}), "refused" and "failed" (detail: RequestError).
   * @param {string} owner study and person: changes of others who use this browser stay where they are
   */
  constructor(owner) {
    super();
    this.owner = owner;
    this.tab = randomName();
    /** @type {Change[]} */
    this.queue = [];
    this.failures = 0;
    this.isSending = false;
    this.isHeld = false; // a conflict waits for the person
    this.readers = 0; // steps that read answers now
    this.waiting = "saving"; // state while changes wait
    /** @type {Set<string>} keys of changes that were sent once: the server may have them, so their bodies stay as they are */
    this.sent = new Set();
    /** @type {Map<string, (outcome: Outcome) => void>} */
    this.listeners = new Map();
    /** @type {Promise<unknown>} */
    this.sending = Promise.resolve();
    this.timer = 0;
    this.kept = new KeptChanges();
    /** @type {Promise<unknown>} */
    this.writing = Promise.resolve();
    window.addEventListener("online", () => this.flush());
    document.addEventListener("visibilitychange", () => document.hidden && this.flush());
    window.addEventListener("pagehide", () => this.flush());
    if (navigator.locks) navigator.locks.request(lockOf(this.tab), () => new Promise(() => {}));
  }

  /** Take up the changes that an earlier page has left. */
  async restore() {
    const all = await this.kept.all();
    const own = all.filter((/** @type {Change} */ change) => change.owner === this.owner);
    const closed = new Set();
    for (const tab of new Set(own.map((/** @type {Change} */ change) => change.tab))) {
      if (await isClosed(tab)) closed.add(tab);
    }
    const left = own.filter((/** @type {Change} */ change) => closed.has(change.tab));
    left.sort((/** @type {Change} */ a, /** @type {Change} */ b) => (a.id || 0) - (b.id || 0));
    this.queue.push(...left);
    return left;
  }

  /**
   * Run a step that reads answers from the server. Nothing is sent meanwhile: a change that is stored after the answer was
   * read, and forgotten before the page shows it, would be missing from the page.
   * @template T @param {() => Promise<T>} step @returns {Promise<T>}
   */
  async still(step) {
    this.readers += 1;
    try {
      await this.sending;
      return await step();
    } finally {
      this.readers -= 1;
      this.flush();
    }
  }

  /** @param {number} task @returns {Change | undefined} the newest change of a task that is not stored yet */
  newest(task) {
    return this.queue.filter((change) => change.task === task).pop();
  }

  /**
   * Keep a change, and send it soon. Changes within 0.3 s become one.
   * @param {number} task
   * @param {number} version version of the answer that the server is known to have
   * @param {any} body the answer
   * @param {boolean} now whether it is sent at once
   * @returns {Change}
   */
  put(task, version, body, now = false) {
    body = structuredClone(body); // the page goes on changing its own
    let change = this.newest(task);
    const isOpen = change && change.tab === this.tab && !this.sent.has(change.key);
    if (change && isOpen && Date.now() - change.made < QUIET_MS) {
      change.body = body;
    } else {
      const base = change ? change.base + 1 : version;
      change = { owner: this.owner, tab: this.tab, task, key: randomName(), base, body, made: Date.now() };
      this.queue.push(change);
    }
    this.store(change);
    this.tell(this.isHeld ? "conflict" : this.waiting);
    if (now) this.flush();
    else this.flushIn(QUIET_MS);
    return change;
  }

  /** @param {Change} change @returns {Promise<Outcome>} what becomes of a change that waits */
  outcome(change) {
    return new Promise((resolve) => this.listeners.set(change.key, resolve));
  }

  /** @param {Change} change */
  store(change) {
    this.writing = this.writing
      .then(() => (this.queue.includes(change) ? this.kept.put(change) : null))
      .then((id) => {
        if (typeof id === "number") change.id = id;
      })
      .catch(() => {}); // without IndexedDB changes are kept in memory only
  }

  /** @param {Change} change @param {Outcome} outcome */
  forget(change, outcome) {
    this.queue = this.queue.filter((waiting) => waiting !== change);
    this.sent.delete(change.key);
    this.writing = this.writing
      .then(() => (change.id === undefined ? null : this.kept.remove(change.id)))
      .catch(() => {});
    this.listeners.get(change.key)?.(outcome);
    this.listeners.delete(change.key);
  }

  /** Drop all changes of a task, after the person has chosen. @param {number} task */
  drop(task) {
    for (const change of this.queue.filter((waiting) => waiting.task === task)) this.forget(change, {});
    this.isHeld = false;
    this.tell(this.queue.length ? this.waiting : "saved");
    this.flush();
  }

  /** Send what waits, unless the server did not answer a moment ago. @param {number} delay milliseconds */
  flushIn(delay) {
    if (this.waiting !== "saving") return; // the next try has its time
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), delay);
  }

  /** Send what waits. @returns {Promise<unknown>} when all of it is stored, or sending has stopped */
  flush() {
    clearTimeout(this.timer);
    if (!this.isSending && !this.isHeld && this.readers === 0) this.sending = this.sendAll();
    return this.sending;
  }

  async sendAll() {
    this.isSending = true;
    try {
      while (this.queue.length && !this.isHeld && this.readers === 0) {
        if (!(await this.sendOne(this.queue[0]))) return;
      }
      if (!this.queue.length) this.tell("saved");
    } finally {
      this.isSending = false;
    }
  }

  /** @param {Change} change @returns {Promise<boolean>} whether the next one may be sent */
  async sendOne(change) {
    const body = { ...change.body, key: change.key, base: change.base };
    this.sent.add(change.key);
    try {
      const options = { keepalive: true, signal: AbortSignal.timeout(TIMEOUT_MS) };
      const answer = await send("PUT", `/api/tasks/${change.task}/answer`, body, options);
      this.failures = 0;
      this.waiting = "saving";
      this.dispatchEvent(new CustomEvent("stored", { detail: { change, answer } }));
      this.forget(change, { answer });
      return true;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      return this.onError(change, error);
    }
  }

  /** @param {Change} change @param {RequestError} error @returns {boolean} whether the next one may be sent */
  onError(change, error) {
    if (error.status === 409) {
      this.isHeld = true;
      this.tell("conflict");
      const detail = { change, version: error.body?.version ?? 0, answer: error.body?.answer ?? null };
      this.dispatchEvent(new CustomEvent("conflict", { detail }));
    } else if ([401, 403, 404].includes(error.status)) {
      this.tell("refused");
      this.dispatchEvent(new CustomEvent("refused", { detail: error }));
    } else if ([400, 413, 415].includes(error.status)) {
      this.leaveOut(change, error);
      return true;
    } else {
      this.retry(error);
    }
    return false;
  }

  /** Forget a change that is wrong, and stays wrong: later ones are made on the version before. @param {Change} change @param {RequestError} error */
  leaveOut(change, error) {
    for (const later of this.queue.filter((waiting) => waiting.task === change.task && waiting.base > change.base)) {
      later.base -= 1;
      this.store(later);
    }
    this.forget(change, { error });
    this.dispatchEvent(new CustomEvent("refused", { detail: error }));
  }

  /** @param {RequestError} error */
  retry(error) {
    const wait = WAITS_MS[Math.min(this.failures, WAITS_MS.length - 1)];
    this.failures += 1;
    this.waiting = error.status ? "failed" : "offline";
    this.tell(this.waiting);
    if (error.status) this.dispatchEvent(new CustomEvent("failed", { detail: error }));
    this.timer = setTimeout(() => this.flush(), wait);
  }

  /** @param {string} state */
  tell(state) {
    this.dispatchEvent(new CustomEvent("state", { detail: state }));
  }
}

/** @param {string} tab */
function lockOf(tab) {
  return `truemoment-tab-${tab}`;
}

/** @param {string} tab @returns {Promise<boolean>} whether a tab is closed; one that is being closed is waited for */
async function isClosed(tab) {
  if (!navigator.locks) return true;
  try {
    return await navigator.locks.request(lockOf(tab), { signal: AbortSignal.timeout(CLOSING_MS) }, () => true);
  } catch {
    return false;
  }
}

function randomName() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
