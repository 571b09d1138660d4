// The list of cards: one stop of the Tab key with arrows inside it. Pictures come at most four at a time.

import { button, capitalised, element, printable } from "./page.js";
import { fixed, isSame, lengthText, longClock, matchText, pictureAddress, scoreText, spokenTime } from "./moments.js";
import { Preview } from "./preview.js";

const AT_ONCE = 4;

/** Loads pictures, those on screen first; after the quick ones the exact ones. */
class Pictures {
  constructor() {
    /** @type {{image: HTMLImageElement, address: string, seen: boolean, exact: boolean}[]} */
    this.waiting = [];
    this.n = 0;
    this.observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        for (const card of this.waiting) if (card.image === target) card.seen = isIntersecting;
      }
    });
  }

  /** @param {HTMLImageElement} image @param {string} address @param {boolean} exact */
  add(image, address, exact) {
    this.waiting.push({ image, address, exact, seen: false });
    this.observer.observe(image);
    queueMicrotask(() => this.next());
  }

  clear() {
    this.waiting = [];
    this.observer.disconnect();
  }

  next() {
    while (this.n < AT_ONCE && this.waiting.length) {
      const rank = (/** @type {any} */ card) => (card.exact ? 2 : 0) + (card.seen ? 0 : 1);
      const best = this.waiting.reduce((a, b) => (rank(b) < rank(a) ? b : a));
      this.waiting.splice(this.waiting.indexOf(best), 1);
      if (!best.image.isConnected) continue;
      this.n += 1;
      const loaded = new Image();
      const done = () => {
        this.n -= 1;
        this.next();
      };
      loaded.onload = () => {
        best.image.src = loaded.src;
        best.image.hidden = false;
        done();
      };
      loaded.onerror = () => {
        if (!best.exact) best.image.dispatchEvent(new Event("missing"));
        done();
      };
      loaded.src = best.address;
    }
  }
}

export class Cards extends EventTarget {
  /**
   * Events: "act" (detail: {name, card}), name is open, play, clip, keep, like or focus.
   * @param {HTMLElement} root
   */
  constructor(root) {
    super();
    this.root = root;
    this.pictures = new Pictures();
    /** @type {{moment: import("./moments.js").Moment, item: HTMLElement, screen: HTMLElement, preview: Preview}[]} */
    this.cards = [];
    this.at = 0;
    root.addEventListener("keydown", (event) => this.onKey(event));
  }

  /**
   * @param {import("./moments.js").Moment[]} moments
   * @param {{median: number, best: number, nameOf: (v: number) => string, canKeep: boolean}} about
   */
  show(moments, about) {
    this.pictures.clear();
    this.cards = moments.map((moment, number) => this.make(moment, number, about));
    this.at = 0;
    this.root.replaceChildren(...this.cards.map((card) => card.item));
    for (const { moment, screen } of this.cards) {
      const image = /** @type {HTMLImageElement} */ (screen.querySelector("img"));
      this.pictures.add(image, pictureAddress(moment), false);
      this.pictures.add(image, pictureAddress(moment, 320, true), true);
    }
  }

  /** @param {import("./moments.js").Moment} moment @param {number} number @param {any} about */
  make(moment, number, about) {
    const item = element("div", "", "card");
    item.tabIndex = number ? -1 : 0;
    item.setAttribute("role", "group");
    const name = about.nameOf(moment.v);
    const words = `${number + 1}, ${name}, at ${spokenTime(moment.start_s)}, ${lengthText(moment)}, score ${scoreText(moment)}${(moment.parts || []).slice(1).map((part) => `, then at ${spokenTime(part.start_s)}`).join("")}`;
    item.setAttribute("aria-label", printable(words));
    const screen = element("div", "", "screen");
    const image = new Image();
    image.alt = "";
    image.hidden = true;
    image.addEventListener("missing", () => screen.append(element("div", "No picture: the video is gone or was changed", "why")));
    const then = (moment.parts || []).slice(1).map((part) => `, then ${longClock(part.start_s)}`).join("");
    screen.append(image, element("span", lengthText(moment) + then, "time"));
    const card = { moment, item, screen, preview: new Preview(screen, () => moment) };
    const act = (/** @type {string} */ name) => () => this.act(name, card);
    const tools = element("div", "", "tools");
    const keep = button("Keep", `Keep moment ${number + 1}`, act("keep"), "keep");
    const clip = button("Save clip", `Save the clip of moment ${number + 1}`, act("clip"));
    keep.hidden = clip.hidden = !about.canKeep;
    tools.append(button("Play", `Play moment ${number + 1}`, act("play")), clip, keep, button("More like this", `More like moment ${number + 1}`, act("like")), button("Open video", `Open the video at moment ${number + 1}`, act("open")));
    for (const tool of tools.children) /** @type {HTMLElement} */ (tool).tabIndex = -1;
    item.append(screen, this.about(moment, number, name, about), tools);
    screen.addEventListener("pointerenter", () => card.preview.start());
    screen.addEventListener("pointerleave", () => card.preview.stop());
    screen.addEventListener("click", act("play"));
    item.addEventListener("focus", () => {
      this.at = number;
      this.cards.forEach((other, k) => (other.item.tabIndex = k === number ? 0 : -1));
      card.preview.start();
    });
    item.addEventListener("blur", () => card.preview.stop());
    return card;
  }

  /** @param {any} moment @param {number} number @param {string} name @param {any} about */
  about(moment, number, name, about) {
    const box = element("div", "", "about");
    const first = element("div", "", "line");
    const video = element("span", "", "name");
    video.dir = "auto";
    video.title = printable(name);
    video.append(element("span", String(number + 1), "rank"), element("bdi", name));
    first.append(video, element("span", longClock(moment.start_s), "start"));
    const bar = element("div", "", "bar-of-score");
    const fill = element("span");
    const share = about.best > about.median ? (moment.score - about.median) / (about.best - about.median) : 0;
    fill.style.width = `${100 * Math.max(0, Math.min(1, share))}%`;
    bar.append(fill);
    const last = element("div", "", "line soft");
    last.append(element("span", fixed(moment.score, 3)), element("span", `match ${matchText(moment.match)}`));
    box.append(first, bar, last);
    const ranks = moment.ranks ?? [];
    const bySeveral = ranks.some((/** @type {any} */ place) => !["seen", "said"].includes(place.list));
    const by = bySeveral ? ` (${ranks.map((/** @type {any} */ place) => `${place.list} #${place.rank}`).join(", ")})` : "";
    if (moment.said || by) {
      const quote = element("div", `${capitalised(moment.why ?? "")}${by}${moment.said ? `: “${moment.said.text}”` : ""}`, "said soft");
      quote.dir = "auto";
      box.append(quote);
    }
    return box;
  }

  get current() {
    return this.cards[this.at];
  }

  /** @param {string} name @param {any} card */
  act(name, card) {
    if (card) this.dispatchEvent(new CustomEvent("act", { detail: { name, card } }));
  }

  /** @param {(moment: import("./moments.js").Moment) => boolean} isKept */
  markKept(isKept) {
    for (const { moment, item } of this.cards) {
      const kept = isKept(moment);
      item.classList.toggle("kept", kept);
      const keep = /** @type {HTMLElement} */ (item.querySelector(".keep"));
      keep.textContent = kept ? "✓ Kept" : "Keep";
      keep.setAttribute("aria-pressed", String(kept));
    }
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (!this.cards.length || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    const columns = getComputedStyle(this.root).gridTemplateColumns.split(" ").length;
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, Home: -this.at, End: this.cards.length - 1 - this.at }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.focus(Math.max(0, Math.min(this.cards.length - 1, this.at + by)));
  }

  /** @param {number} number */
  focus(number) {
    this.cards[number]?.item.focus();
    this.cards[number]?.item.scrollIntoView({ block: "nearest" });
  }

  /** @param {import("./moments.js").Moment} moment */
  find(moment) {
    return this.cards.find((card) => isSame(card.moment, moment));
  }
}
