// A picture as a query: a file that is chosen, dropped or pasted, or a picture of this page, which is a frame of a video.

import { send } from "./api.js";
import { byId, problem } from "./page.js";

const MOST_BYTES = 32 << 20; // as MOST_BYTES of base/boundary/pictures.py

// Addresses of pictures (moments.js): a time in milliseconds, or those of the start and the end of a moment.
const OF_VIDEO = /\/(?:picture|preview)\/(\d+)\/(\d+)(?:-(\d+))?\.jpg/;

export class QueryPicture extends EventTarget {
  /** Events: "file" (detail: File), "frame" (detail: {v, start_s, end_s}), "clear". */
  constructor() {
    super();
    byId("choose-picture").addEventListener("click", () => byId("picture-file").click());
    byId("picture-file").addEventListener("change", () => {
      this.take([...byId("picture-file").files]);
      byId("picture-file").value = "";
    });
    byId("clear-picture").addEventListener("click", () => this.dispatchEvent(new CustomEvent("clear")));
    document.addEventListener("dragover", (event) => {
      if (!["Files", "text/uri-list"].some((kind) => event.dataTransfer?.types.includes(kind))) return; // text, for a field
      event.preventDefault();
      document.body.classList.add("dropping");
    });
    for (const name of ["drop", "dragleave"]) document.addEventListener(name, () => document.body.classList.remove("dropping"));
    document.addEventListener("drop", (event) => {
      const frame = OF_VIDEO.exec(event.dataTransfer?.getData("text/uri-list") || "");
      if (frame || event.dataTransfer?.files.length) event.preventDefault();
      if (frame) this.dispatchEvent(new CustomEvent("frame", { detail: momentOf(frame) }));
      else this.take([...(event.dataTransfer?.files || [])]);
    });
    document.addEventListener("paste", (event) => {
      const files = [...(event.clipboardData?.files || [])];
      if (files.length) this.take(files);
    });
  }

  /** @param {File[]} files */
  take(files) {
    if (!files.length) return;
    if (files.length > 1) problem(`Got ${files.length} files, expected one picture.`);
    else if (files[0].size > MOST_BYTES) problem(`${files[0].name} is larger than ${MOST_BYTES >> 20} MiB, the most of a picture.`);
    else this.dispatchEvent(new CustomEvent("file", { detail: files[0] }));
  }

  /** Show what is searched for; "" for no picture. @param {string} name @param {File | null} file */
  show(name, file = null) {
    const image = byId("picture-shown");
    if (file || !name) URL.revokeObjectURL(image.src);
    if (file) image.src = URL.createObjectURL(file);
    image.hidden = !name || !image.src.startsWith("blob:");
    if (!name) image.removeAttribute("src");
    byId("picture").hidden = !name;
    byId("picture-name").textContent = name;
  }
}

/** @param {RegExpExecArray} address @returns {{v: number, start_s: number, end_s: number}} */
function momentOf([, v, start, end]) {
  const start_s = Number(start) / 1000;
  return { v: Number(v), start_s, end_s: end ? Number(end) / 1000 : start_s + 0.001 };
}

/** Search for a picture. @param {File} file @param {URLSearchParams} settings @returns {Promise<any>} the answer */
export async function searchPicture(file, settings) {
  const address = await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error(`${file.name} cannot be read.`));
    reader.readAsDataURL(file);
  });
  return send("POST", `/api/search/picture?${settings}`, { name: file.name, data: address.slice(address.indexOf(",") + 1) });
}
