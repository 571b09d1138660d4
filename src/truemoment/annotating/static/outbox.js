// Changes on their way to the server. Each is kept in IndexedDB until the server has stored it, so that a crash, a closed
// tab or a lost connection costs nothing. They are sent one after another, oldest first.

import { RequestError, send } from "./api.js";

const WAITS_MS = [500, 1000, 2000, 4000, 8000, 15000, 30000];
const QUIET_MS = 300;

/**
 * @typedef {{id?: number, owner: string, tab: string, task: number, key: string, base: number, body: any, made: number}} Change
 */

export class Outbox extends EventTarget {
  /**
   * Events: "state" (detail: "saved", "saving", "offline", "refused", "conflict"), "stored" (detail: {change, answer}),
   * "conflict" (detail: {change, version, answer}), "refused" (detail: RequestError).
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
    /** @type {Promise<unknown>} */
    this.sending = Promise.resolve();
    this.timer = 0;
    /** @type {Promise<IDBDatabase>} */
    this.database = open();
    /** @type {Promise<unknown>} */
    this.writing = Promise.resolve();
    window.addEventListener("online", () => this.flush());
    document.addEventListener("visibilitychange", () => document.hidden && this.flush());
    window.addEventListener("pagehide", () => this.flush());
    if (navigator.locks) navigator.locks.request(lockOf(this.tab), () => new Promise(() => {}));
  }

  /** Take up the changes that an earlier page has left. */
  async restore() {
    const held = new Set();
    if (navigator.locks) {
      const found = await navigator.locks.query();
      for (const lock of found.held || []) held.add(lock.name);
    }
    const all = await this.transact("readonly", (store) => store.getAll());
    const left = all.filter((/** @type {Change} */ of) => of.owner === this.owner && !held.has(lockOf(of.tab)));
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
    return this.queue.filter((of) => of.task === task).pop();
  }

  /**
   * Keep a change, and send it soon. Changes within 0.3 s become one.
   * @param {number} task
   * @param {number} version version of the answer that the server is known to have
   * @param {any} body the answer
   * @param {boolean} now whether it is sent at once
   */
  put(task, version, body, now = false) {
    body = structuredClone(body); // the page goes on changing its own
    const last = this.newest(task);
    const isSent = last !== undefined && this.isSending && this.queue[0] === last;
    if (last && !isSent && last.tab === this.tab && Date.now() - last.made < QUIET_MS) {
      last.body = body;
      this.store(last);
    } else {
      const base = last ? last.base + 1 : version;
      const change = { owner: this.owner, tab: this.tab, task, key: randomName(), base, body, made: Date.now() };
      this.queue.push(change);
      this.store(change);
    }
    clearTimeout(this.timer);
    if (this.failures === 0) this.tell(this.isHeld ? "conflict" : "saving");
    else this.tell("offline");
    if (now) this.flush();
    else this.timer = setTimeout(() => this.flush(), QUIET_MS);
  }

  /** @param {Change} change */
  store(change) {
    this.writing = this.writing
      .then(() => (this.queue.includes(change) ? this.transact("readwrite", (store) => store.put(change)) : null))
      .then((id) => {
        if (typeof id === "number") change.id = id;
      })
      .catch(() => {}); // without IndexedDB changes are kept in memory only
  }

  /** @param {Change} change */
  forget(change) {
    this.queue = this.queue.filter((of) => of !== change);
    this.writing = this.writing
      .then(() => (change.id === undefined ? null : this.transact("readwrite", (store) => store.delete(change.id))))
      .catch(() => {});
  }

  /** Drop all changes of a task, after the person has chosen. @param {number} task */
  drop(task) {
    for (const change of this.queue.filter((of) => of.task === task)) this.forget(change);
    this.isHeld = false;
    this.tell(this.queue.length ? "saving" : "saved");
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
        const change = this.queue[0];
        if (!(await this.sendOne(change))) return;
      }
      if (!this.queue.length) this.tell("saved");
    } finally {
      this.isSending = false;
    }
  }

  /** @param {Change} change @returns {Promise<boolean>} whether the next one may be sent */
  async sendOne(change) {
    const body = { ...change.body, key: change.key, base: change.base };
    try {
      const answer = await send("PUT", `/api/tasks/${change.task}/answer`, body, { keepalive: true });
      this.failures = 0;
      this.forget(change);
      this.dispatchEvent(new CustomEvent("stored", { detail: { change, answer } }));
      return true;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      if (error.status === 409) {
        this.isHeld = true;
        this.tell("conflict");
        const detail = { change, version: error.body?.version ?? 0, answer: error.body?.answer ?? null };
        this.dispatchEvent(new CustomEvent("conflict", { detail }));
      } else if ([401, 403, 404].includes(error.status)) {
        this.tell("refused");
        this.dispatchEvent(new CustomEvent("refused", { detail: error }));
      } else if ([400, 413, 415].includes(error.status)) {
        this.forget(change); // a change that is wrong stays wrong
        this.dispatchEvent(new CustomEvent("refused", { detail: error }));
        return true;
      } else {
        this.retry();
      }
      return false;
    }
  }

  retry() {
    const wait = WAITS_MS[Math.min(this.failures, WAITS_MS.length - 1)];
    this.failures += 1;
    this.tell("offline");
    this.timer = setTimeout(() => this.flush(), wait);
  }

  /** @returns {Promise<void>} when nothing waits any more */
  async empty() {
    while (this.queue.length) {
      await this.flush();
      if (this.queue.length) await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** @param {string} state */
  tell(state) {
    this.dispatchEvent(new CustomEvent("state", { detail: state }));
  }

  /**
   * @param {IDBTransactionMode} mode
   * @param {(store: IDBObjectStore) => IDBRequest} use
   * @returns {Promise<any>}
   */
  async transact(mode, use) {
    const database = await this.database;
    return new Promise((resolve, reject) => {
      const transaction = database.transaction("changes", mode, { durability: "strict" });
      const request = use(transaction.objectStore("changes"));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onerror = () => reject(transaction.error);
      transaction.onabort = () => reject(transaction.error);
    });
  }
}

/** @param {string} tab */
function lockOf(tab) {
  return `truemoment-tab-${tab}`;
}

function randomName() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @returns {Promise<IDBDatabase>} */
function open() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open("truemoment-annotate", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("changes", { keyPath: "id", autoIncrement: true });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
