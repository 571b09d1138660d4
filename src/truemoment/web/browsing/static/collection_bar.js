// The bar that shows which collection moments are kept in; the search page and the page of a video have it.

import { askName } from "./collection.js";
import { showExport } from "./export.js";
import { ROOT, announce, byId } from "./page.js";

/** Show the menu that exports all moments of a collection. @param {import("./collection.js").Collection} collection */
export function exportCollection(collection) {
  const { name, moments } = collection;
  if (moments.length) collection.saving.then(() => showExport(byId("exporting"), { collection: name, count: moments.length }));
}

/** @param {import("./collection.js").Collection} collection */
export function showBar(collection) {
  const select = byId("collection");
  const shelf = byId("export-collection"); // the page of a collection has a button of its own
  const show = () => {
    const names = [...new Set([collection.name, ...collection.all.map((collected) => collected.name)])].sort();
    select.replaceChildren(...names.map((name) => {
      const known = collection.all.find((collected) => collected.name === name);
      const count = name === collection.name ? collection.moments.length : known ? known.count : 0;
      return new Option(`${name} (${count})`, name, false, name === collection.name);
    }));
    byId("open-collection").href = `${ROOT}/collection/${encodeURIComponent(collection.name)}`;
    if (collection.readOnly) byId("kept-state").textContent = collection.readOnly;
    byId("new-collection").hidden = Boolean(collection.readOnly);
    if (!shelf) return;
    shelf.hidden = Boolean(collection.readOnly);
    shelf.disabled = !collection.moments.length;
  };
  collection.addEventListener("change", show);
  collection.addEventListener("note", (event) => {
    byId("kept-state").textContent = /** @type {CustomEvent} */ (event).detail;
    announce(/** @type {CustomEvent} */ (event).detail);
  });
  shelf?.addEventListener("click", () => exportCollection(collection));
  select.addEventListener("change", () => collection.open(select.value));
  byId("new-collection").addEventListener("click", async () => {
    const name = await askName(byId("naming"));
    if (name) await collection.open(name);
  });
}
