// A collection: moments that are kept. Each change is an operation, so that it can be done again on what another tab
// has stored meanwhile, and undone.

import { RequestError, get, send } from "./api.js";
import { isSame } from "./moments.js";

/** @typedef {import("./moments.js").Moment} Moment */
/** @typedef {(moments: Moment[]) => Moment[]} Operation */

const CHOSEN = "truemoment-collection";
const TRIES = 5;

export class Collection extends EventTarget {
  /** Events: "change" (moments or name), "note" (detail: one line). */
  constructor() {
    super();
    this.name = "kept";
    try {
      this.name = localStorage.getItem(CHOSEN) || "kept";
    } catch {
      // a browser without storage begins with the usual one
    }
    this.revision = 0;
    /** @type {Moment[]} */
    this.moments = [];
    this.readOnly = "";
    /** @type {{name: string, count: number}[]} */
    this.all = [];
    /** @type {Operation[]} */
    this.past = [];
    this.saving = Promise.resolve();
  }

  /** @param {string} name */
  async load(name = this.name) {
    const answer = await get("/api/collections");
    this.all = answer.collections;
    this.readOnly = answer.read_only;
    await this.open(name).catch(() => this.open("kept"));
  }

  /** @param {string} name */
  async open(name) {
    await this.saving;
    this.take(await get(`/api/collections/${encodeURIComponent(name)}`));
    this.past = [];
    try {
      localStorage.setItem(CHOSEN, name);
    } catch {
      // as above
    }
    this.tell("change");
  }

  /** @param {{name: string, revision: number, moments: Moment[]}} collection */
  take(collection) {
    this.name = collection.name;
    this.revision = collection.revision;
    this.moments = collection.moments;
  }

  /** @param {string} name @param {string} detail */
  tell(name, detail = "") {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  /** @param {Moment} moment */
  find(moment) {
    return this.moments.find((kept) => isSame(kept, moment));
  }

  /** Keep a moment, or take it out again. @param {Moment} moment */
  toggle(moment) {
    const known = this.find(moment);
    if (known) this.remove(String(known.id));
    else this.keep(moment);
  }

  /** @param {Moment} moment */
  keep(moment) {
    const id = Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(36).padStart(2, "0")).join("");
    const kept = { ...moment, id, note: moment.note || "" };
    this.change((moments) => [...moments.filter((moment) => moment.id !== id), kept], (moments) => moments.filter((moment) => moment.id !== id));
    this.tell("note", `Added to the collection “${this.name}”`);
  }

  /** @param {string} id */
  remove(id) {
    const at = this.moments.findIndex((moment) => moment.id === id);
    const gone = this.moments[at];
    if (!gone) return;
    this.change(
      (moments) => moments.filter((moment) => moment.id !== id),
      (moments) => [...moments.slice(0, at), gone, ...moments.slice(at)],
    );
    this.tell("note", `taken out of ${this.name}`);
  }

  /** @param {string} id @param {Partial<Moment>} fields */
  update(id, fields) {
    const before = this.moments.find((moment) => moment.id === id);
    if (!before) return;
    const set = (/** @type {any} */ values) => (/** @type {Moment[]} */ moments) =>
      moments.map((moment) => (moment.id === id ? { ...moment, ...values } : moment));
    this.change(set(fields), set(before));
  }

  /** @param {string} id @param {number} by places */
  move(id, by) {
    const to = (/** @type {number} */ step) => (/** @type {Moment[]} */ moments) => {
      const at = moments.findIndex((moment) => moment.id === id);
      const place = Math.max(0, Math.min(moments.length - 1, at + step));
      const others = moments.filter((moment) => moment.id !== id);
      return at < 0 ? moments : [...others.slice(0, place), moments[at], ...others.slice(place)];
    };
    this.change(to(by), to(-by));
  }

  /** @param {Operation} operation @param {Operation} inverse */
  change(operation, inverse) {
    if (this.readOnly) {
      this.tell("note", this.readOnly);
      return;
    }
    this.past.push(inverse);
    this.apply(operation);
  }

  /** Take the last change back. @returns {boolean} whether there was one */
  undo() {
    const inverse = this.past.pop();
    if (!inverse) return false;
    this.apply(inverse);
    this.tell("note", "undone");
    return true;
  }

  /** @param {Operation} operation */
  apply(operation) {
    this.moments = operation(this.moments);
    this.tell("change");
    this.saving = this.saving.then(() => this.save(operation));
  }

  /** @param {Operation} operation what has changed since the revision that is known */
  async save(operation) {
    let moments = this.moments;
    for (let tries = 0; tries < TRIES; tries++) {
      try {
        const saved = await send("PUT", this.address, { revision: this.revision, moments: moments.map(sent) });
        this.revision = saved.revision;
        this.isStored = true;
        if (tries) {
          this.moments = saved.moments;
          this.tell("change");
        }
        return;
      } catch (error) {
        if (!(error instanceof RequestError) || error.status !== 409 || !error.body?.moments) {
          this.tell("note", error instanceof Error ? error.message : String(error));
          await get(this.address).then((collection) => this.take(collection)).catch(() => {});
          this.tell("change");
          return;
        }
        this.revision = error.body.revision;
        moments = operation(error.body.moments);
        this.tell("note", "changed in another tab as well: the moments of both are here");
      }
    }
  }

  get address() {
    return `/api/collections/${encodeURIComponent(this.name)}`;
  }
}

/** @param {Moment} moment @returns {object} what the server stores */
function sent(moment) {
  const { id, v, start_s, end_s, sentence = "", like = null, score = null, match = null, note = "" } = moment;
  return { id, v, start_s, end_s, sentence, like, score, match, note };
}

/**
 * Ask for the name of a new collection.
 * @param {HTMLDialogElement} dialog
 * @returns {Promise<string>} "" for none
 */
export function askName(dialog) {
  dialog.innerHTML = "";
  const form = document.createElement("form");
  form.method = "dialog";
  const title = document.createElement("h2");
  title.id = "naming-title";
  title.textContent = "New collection";
  const label = document.createElement("label");
  label.htmlFor = "naming-name";
  label.textContent = "Name: letters A to Z, digits, blanks, _ and -";
  const field = document.createElement("input");
  field.id = "naming-name";
  field.type = "text";
  field.required = true;
  field.maxLength = 60;
  field.pattern = "[A-Za-z0-9_\\-]([A-Za-z0-9 _\\-]*[A-Za-z0-9_\\-])?";
  const make = document.createElement("button");
  make.className = "main";
  make.textContent = "Make";
  form.append(title, label, field, make);
  dialog.append(form);
  return new Promise((resolve) => {
    form.onsubmit = () => resolve(field.value);
    dialog.oncancel = () => resolve("");
    dialog.showModal();
  });
}
