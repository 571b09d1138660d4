// The index that is searched: its videos, and the state of its model.

import { get, send } from "./api.js";
import { button, byId, isolated, wait } from "./page.js";

const ASKED_EVERY_MS = 500;

export class ShownIndex {
  constructor() {
    /** @type {any} */
    this.facts = null;
    this.loaded = this.load();
  }

  async load() {
    this.facts = await get("/api/index");
    byId("videos").replaceChildren(new Option(`All (${this.videos.length})`, ""), ...this.videos.map(videoOption));
    byId("by-choice").hidden = !this.facts.has_speech;
    if (!this.facts.has_speech) byId("by").value = "seen";
    this.showChanged(this.facts.changed);
  }

  /** @returns {{v: number, video_id: string, duration_s: number, file: string}[]} */
  get videos() {
    return this.facts?.videos ?? [];
  }

  get isOwner() {
    return this.facts?.role === "owner";
  }

  /** @returns {string[]} sentences whose words the model knows */
  get examples() {
    return this.facts?.examples ?? [];
  }

  get isReady() {
    return Boolean(this.facts?.ready);
  }

  get model() {
    const { model, models, fingerprint } = this.facts;
    return models.length > 1 ? models.join(", ") : `${model}#${fingerprint.slice(0, 8)}`;
  }

  /** @param {number} v */
  nameOf(v) {
    return this.videos[v]?.video_id ?? `video ${v}`;
  }

  /** Wait until sentences can be searched, or it is known that they cannot. @returns {Promise<string>} why not; "" if they can */
  async modelLoaded() {
    await this.loaded;
    for (;;) {
      if (this.isReady) return "";
      if (this.facts.state === "failed") return this.facts.why;
      await wait(ASKED_EVERY_MS);
      const { ready, state, why, examples } = await get("/api/index").catch(() => this.facts);
      Object.assign(this.facts, { ready, state, why, examples });
    }
  }

  /** @param {boolean} hasChanged on disk, since it was loaded */
  showChanged(hasChanged) {
    const notice = byId("notice");
    notice.hidden = !hasChanged;
    if (!hasChanged || notice.childElementCount) return;
    notice.replaceChildren("The index was changed on disk. ", button("Load it anew", "", async () => {
      await send("POST", "/api/index/reload");
      location.reload();
    }));
  }
}

/** @param {any} video */
function videoOption(video) {
  const name = isolated(video.video_id);
  return new Option(video.file === "here" ? name : `${name} (${video.file})`, String(video.v));
}
