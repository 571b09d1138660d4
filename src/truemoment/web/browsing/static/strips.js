// The strips of the videos in which something was found.

import { ROOT, announce, element } from "./page.js";
import { Strip } from "./strip.js";

const MOST = 20; // videos whose strips are shown

export class Strips {
  /** @param {HTMLElement} section @param {HTMLElement} root */
  constructor(section, root) {
    this.section = section;
    this.root = root;
    /** @type {Strip[]} */
    this.strips = [];
    /** @type {any} */
    this.answer = null;
  }

  /**
   * @param {any} answer
   * @param {{video_id: string, duration_s: number}[]} videos
   * @param {(v: number, time: number) => void} go
   */
  async show(answer, videos, go) {
    this.answer = answer;
    const shown = [...new Set(answer.moments.map((/** @type {any} */ moment) => moment.v))].slice(0, MOST);
    this.section.hidden = !shown.length;
    this.strips = [];
    const rows = shown.map((v) => {
      const { video_id: id, duration_s: duration } = videos[v];
      const row = element("div", "", "strip-row");
      const name = element("span", id, "name");
      name.dir = "auto";
      const strip = new Strip(duration, id);
      strip.addEventListener("go", (event) => go(v, /** @type {CustomEvent} */ (event).detail));
      this.strips.push(strip);
      row.append(name, strip.root);
      return { row, strip, v };
    });
    this.root.replaceChildren(...rows.map(({ row }) => row));
    for (const { row, strip, v } of rows) {
      if (this.answer !== answer) return;
      if (await strip.load(`${ROOT}/api/strip/${encodeURIComponent(answer.search)}/${v}`)) row.after(strip.table());
    }
  }

  /** Go to the next peak of the strip that has the focus, or of the first. @param {number} by 1 or -1 */
  peak(by) {
    const strip = this.strips.find((strip) => strip.root === document.activeElement) || this.strips[0];
    if (!strip) return;
    strip.root.focus();
    if (!strip.nextPeak(by)) announce("no further peak");
  }
}
