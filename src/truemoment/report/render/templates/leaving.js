"use strict";
/* How tables and figures leave a page: copied as LaTeX, Markdown or CSV, saved as SVG, PDF or PNG; and the page itself. */
(() => {
  const source = `<!DOCTYPE html>\n${document.documentElement.outerHTML}\n`; // before anything is added
  const DRAWN = "http://www.w3.org/2000/svg";

  function make(tag, attributes, text, space = "http://www.w3.org/1999/xhtml") {
    const element = document.createElementNS(space, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text) element.textContent = text;
    return element;
  }

  const copied = make("p", { class: "unseen", role: "status" });
  document.body.append(copied);

  /* Rows of a table: the text of each cell, with smaller text in brackets and marked ones between signs, without drawings. */
  const BEGIN = "\ue000", END = "\ue001"; // of what is marked

  function rowsOf(table) {
    const text = (cell) => {
      const small = cell.querySelector("small");
      const own = [...cell.childNodes].filter((node) => node !== small).map((node) => node.textContent).join("");
      const isMarked = cell.matches(".marked");
      const main = (isMarked ? own.trim().replace(/\*$/, "") : own).replace(/\s+/g, " ").trim();
      return `${isMarked ? BEGIN : ""}${main}${isMarked ? END : ""}${small ? ` (${small.textContent.replace(/\s+/g, " ").trim()})` : ""}`;
    };
    return [...table.rows].filter((row) => row.parentNode.tagName !== "TFOOT" && !row.hidden)
      .map((row) => [...row.cells].filter((cell) => !cell.matches(".on-axis, .axis-label")).map(text));
  }

  const LATEX = { "&": "\\&", "%": "\\%", "$": "\\$", "#": "\\#", "_": "\\_", "{": "\\{", "}": "\\}", "~": "\\~{}", "^": "\\^{}", "\\": "\\textbackslash{}", "<": "$<$", ">": "$>$", "|": "$|$", "±": "$\\pm$", [BEGIN]: "\\textbf{", [END]: "}" };
  const FORMS = {
    LaTeX: ([head, ...rows]) => [
      `\\begin{tabular}{l${"r".repeat(head.length - 1)}}`, "\\toprule",
      ...[head, ...rows].map((row, at) => `${row.map((text) => text.replace(/[&%$#_{}~^\\<>|±\ue000\ue001]/g, (sign) => LATEX[sign])).join(" & ")} \\\\${at ? "" : "\n\\midrule"}`),
      "\\bottomrule", "\\end{tabular}", ""].join("\n"),
    Markdown: ([head, ...rows]) => [head, head.map((_, at) => (at ? "---:" : "---")), ...rows]
      .map((row, at) => `| ${row.map((text) => (at === 1 ? text : text.replace(/[\\`*_[\]<>|]/g, "\\$&").replace(/[\ue000\ue001]/g, "**"))).join(" | ")} |\n`).join(""),
    CSV: (rows) => rows.map((row) => `${row.map((text) => text.replace(/[\ue000\ue001]/g, "")).map((text) => (/[",\n]|^[=+@-](?!\d)/.test(text) ? `"${text.replace(/"/g, '""')}"` : text)).join(",")}\n`).join(""),
  };

  async function copy(text, button) {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // no right to: the old way
      const area = make("textarea", {});
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      button.focus();
    }
    copied.textContent = "Copied";
    const words = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = words; copied.textContent = ""; }, 1500);
  }

  function save(name, blob) {
    const link = make("a", { download: name });
    link.href = URL.createObjectURL(blob);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "text-anchor"];

  /* A copy of an element of a drawing that needs no style sheet. */
  function plain(element) {
    if (element.tagName === "use" && element.getAttribute("href")?.startsWith("#mark-")) {
      const place = make("svg", { x: element.getAttribute("x"), y: element.getAttribute("y"), overflow: "visible" }, "", DRAWN);
      const outline = document.getElementById(element.getAttribute("href").slice(1)).cloneNode();
      outline.removeAttribute("id");
      for (const name of STYLES.slice(0, 3)) outline.setAttribute(name, getComputedStyle(element)[name]);
      place.append(outline);
      return place;
    }
    const clone = element.cloneNode();
    const style = getComputedStyle(element);
    if (!["svg", "g", "defs"].includes(element.tagName)) for (const name of STYLES) clone.style.setProperty(name, style.getPropertyValue(name));
    for (const child of element.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) clone.append(child.textContent);
      else if (!child.matches?.(".marks, title")) clone.append(plain(child));
    }
    return clone;
  }

  /* What a figure shows as one drawing: its drawings and the text beside them at their places. */
  function drawing(figure) {
    const shown = [...figure.children].filter((child) => !child.matches("figcaption, .menu, .actions"));
    const boxes = shown.map((child) => child.getBoundingClientRect());
    const left = Math.min(...boxes.map((box) => box.left)) - 8, top = Math.min(...boxes.map((box) => box.top)) - 4;
    const width = Math.ceil(Math.max(...boxes.map((box) => box.right)) - left + 8);
    const height = Math.ceil(Math.max(...boxes.map((box) => box.bottom)) - top + 4);
    const sheet = make("svg", { width, height, "font-family": getComputedStyle(figure).fontFamily }, "", DRAWN);
    sheet.append(make("rect", { width, height, fill: getComputedStyle(document.body).backgroundColor }, "", DRAWN));
    for (const svg of shown.flatMap((child) => (child.matches("svg") ? [child] : [...child.querySelectorAll("svg")]))) {
      const box = svg.getBoundingClientRect(), copy = plain(svg);
      for (const [name, value] of [["x", box.left - left], ["y", box.top - top], ["width", box.width], ["height", box.height], ["overflow", "visible"]]) copy.setAttribute(name, value);
      const table = svg.closest(".on-axis")?.closest("table");
      const steps = table ? Number(table.style.getPropertyValue("--steps")) : -1;
      for (let at = 0; at <= steps; at++) {
        const x = `${100 * at / steps}%`;
        copy.prepend(make("line", { x1: x, x2: x, y2: "100%", stroke: getComputedStyle(table).getPropertyValue("--grid") }, "", DRAWN));
      }
      sheet.append(copy);
    }
    for (const child of shown) {
      const words = document.createTreeWalker(child, NodeFilter.SHOW_TEXT);
      for (let node = words.nextNode(); node; node = words.nextNode()) {
        if (!node.textContent.trim() || node.parentElement.closest("svg, .unseen")) continue;
        const style = getComputedStyle(node.parentElement);
        for (const line of lines(node)) sheet.append(make("text", { x: line.left - left, y: line.bottom - top - 0.25 * line.height, textLength: line.right - line.left, fill: style.color, "font-size": style.fontSize, "font-weight": style.fontWeight }, line.text, DRAWN));
      }
    }
    return { text: new XMLSerializer().serializeToString(sheet), width, height };
  }

  /* The lines that a text is broken into, each with its box. */
  function lines(node) {
    const boxes = [], range = document.createRange();
    for (let at = 0; at < node.length; at++) {
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      const box = range.getBoundingClientRect(), last = boxes[boxes.length - 1];
      if (!box.width || (!last && !node.data[at].trim())) continue;
      if (!last || Math.abs(last.bottom - box.bottom) >= 2) boxes.push({ text: node.data[at], left: box.left, right: box.right, bottom: box.bottom, height: box.height });
      else Object.assign(last, { text: last.text + node.data[at], right: node.data[at].trim() ? box.right : last.right });
    }
    return boxes;
  }

  async function saveDrawing(figure, form) {
    const { text, width, height } = drawing(figure), name = `${figure.id.replace(/^figure-/, "")}.${form.toLowerCase()}`;
    if (form === "SVG") { save(name, new Blob([text], { type: "image/svg+xml" })); return; }
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = make("canvas", { width: 3 * width, height: 3 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    if (form === "PDF") save(name, await pdf(canvas));
    else canvas.toBlob((blob) => save(name, blob));
  }

  /* A PDF page that is a picture without loss: a script cannot embed the fonts of the reader. 288 pixels an inch. */
  async function pdf(canvas) {
    const { width, height } = canvas;
    const colours = canvas.getContext("2d").getImageData(0, 0, width, height).data.filter((_, at) => at % 4 < 3);
    const packed = new Blob([colours]).stream().pipeThrough(new CompressionStream("deflate"));
    const picture = await new Response(packed).blob();
    const place = `${width / 4} 0 0 ${height / 4} 0 0 cm /Picture Do`;
    const parts = ["%PDF-1.4\n"], begins = [], size = () => new Blob(parts).size;
    for (const object of [
      ["<< /Type /Catalog /Pages 2 0 R >>"],
      ["<< /Type /Pages /Kids [3 0 R] /Count 1 >>"],
      [`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width / 4} ${height / 4}] /Contents 4 0 R /Resources << /XObject << /Picture 5 0 R >> >> >>`],
      [`<< /Length ${place.length} >>\nstream\n${place}\nendstream`],
      [`<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode /Length ${picture.size} >>\nstream\n`, picture, "\nendstream"],
    ]) {
      begins.push(size());
      parts.push(`${begins.length} 0 obj\n`, ...object, "\nendobj\n");
    }
    const end = size();
    const table = begins.map((begin) => `${String(begin).padStart(10, "0")} 00000 n \n`).join("");
    parts.push(`xref\n0 6\n0000000000 65535 f \n${table}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n${end}\n%%EOF\n`);
    return new Blob(parts, { type: "application/pdf" });
  }

  /* The ways in which a table or a figure leaves the page. */
  function ways(table, figure) {
    const line = make("div", {});
    const add = (words, act) => {
      const button = make("button", { type: "button" }, words);
      button.addEventListener("click", () => act(button));
      line.append(button);
    };
    if (table) {
      line.append("Copy");
      for (const form of Object.keys(FORMS)) add(form, (button) => copy(FORMS[form](evened(rowsOf(table))), button));
    }
    if (figure) {
      line.append("Save");
      for (const form of ["SVG", "PDF", "PNG"]) add(form, () => saveDrawing(figure, form));
    }
    return line;
  }

  /* Rows of one length: headings of groups fill theirs. */
  function evened(rows) {
    const n = Math.max(...rows.map((row) => row.length));
    return rows.map((row) => [...row, ...Array(n - row.length).fill("")]);
  }

  function menu(place, table, figure, title) {
    const details = make("details", { class: "menu" });
    details.append(make("summary", { "aria-label": `Copy or save: ${title}` }, table && !figure ? "Copy" : table ? "Copy or save" : "Save"), ways(table, figure));
    place.before(details);
  }

  for (const scroll of document.querySelectorAll(".scroll")) {
    const caption = document.getElementById(scroll.getAttribute("aria-labelledby"));
    menu(scroll, scroll.querySelector("table"), null, caption?.textContent.trim() ?? "table");
  }
  for (const figure of document.querySelectorAll("figure[id]")) {
    const table = figure.querySelector("table.strip");
    const title = figure.querySelector("figcaption strong").textContent;
    if (figure.closest(".first-look")) {
      const line = ways(table, figure);
      line.className = "actions";
      figure.append(line);
    } else menu(figure.querySelector("figcaption").nextElementSibling, table, figure, title);
  }
  const aside = document.querySelector(".first-look aside");
  if (aside) {
    const line = make("div", { class: "actions" });
    const command = aside.querySelector(".command");
    const button = (words, act) => {
      const made = make("button", { type: "button" }, words);
      made.addEventListener("click", () => act(made));
      line.append(made);
    };
    if (command) button("Copy this command", (made) => copy(command.textContent, made));
    button("Save this page", () => save(`${document.title.replace(/[^\w-]+/g, "-")}.html`, new Blob([source], { type: "text/html" })));
    aside.append(line);
  }
})();
