"use strict";
/* What a page adds when scripts run: sorting and filtering of tables, values of figures, the contents list. Everything
   that a page says is there without it. Text goes into elements as text only. */
(() => {
  const wide = matchMedia("(min-width: 80rem)");

  function make(tag, attributes, text) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text) element.textContent = text;
    return element;
  }

  /* ------------------------------------------------------------------------------------------ tables */

  const NUMBER = /^(?:[<>≤≥~≈]\s*)?([+−-]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?)(?=$|[\s%±–(*/])/i;
  const NONE = /^(|-|–|—|undefined|none)$/i;
  const LATEST = 12; // tables of fewer rows need no field to filter them
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  function shownText(cell) {
    const main = cell.querySelector("bdi");
    return (main || cell).textContent.trim();
  }

  /* The number that a cell begins with, NaN for none: "48.5 ± 2" is 48.5, "< 0.001" lies just below 0.001. */
  function numberOf(text) {
    const match = NUMBER.exec(text);
    if (!match) return NaN;
    const value = Number(match[1].replace(/,/g, "").replace("−", "-"));
    return text.startsWith("<") ? value - Math.abs(value) * 1e-9 : text.startsWith(">") ? value + Math.abs(value) * 1e-9 : value;
  }

  function sorting(table) {
    const heads = [...table.tHead.rows[0].cells];
    const bodies = [...table.tBodies].map((body) => ({
      body, rows: [...body.rows].filter((row) => !row.classList.contains("group-title")),
    }));
    const all = bodies.flatMap((body) => body.rows);
    const complete = all.every((row) => row.cells.length === heads.length && shownText(row.cells[0]));
    if (!complete || !bodies.some((body) => body.rows.length > 1)) return;

    function isNumeric(column) {
      const texts = all.map((row) => shownText(row.cells[column])).filter((text) => !NONE.test(text));
      return texts.length > 0 && texts.every((text) => NUMBER.test(text));
    }

    function sort(column, order, numeric) {
      const sign = order === "descending" ? -1 : 1;
      const keys = new Map(all.map((row) => {
        const text = shownText(row.cells[column]);
        return [row, NONE.test(text) ? null : numeric ? numberOf(text) : text];
      }));
      const compare = (a, b) => {
        const first = keys.get(a), second = keys.get(b);
        if (first === null || second === null) return (first === null) - (second === null);
        return sign * (numeric ? first - second : collator.compare(first, second));
      };
      for (const { body, rows } of bodies) body.append(...(order ? [...rows].sort(compare) : rows));
      heads.forEach((head, at) => {
        if (order && at === column) head.setAttribute("aria-sort", order);
        else head.removeAttribute("aria-sort");
      });
    }

    heads.forEach((head, column) => {
      if (head.tagName !== "TH") return;
      const numeric = isNumeric(column);
      const orders = numeric ? ["descending", "ascending", ""] : ["ascending", "descending", ""];
      const button = make("button", { type: "button", title: "Sort; a third time restores the order" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort") || "";
        sort(column, orders[(orders.indexOf(now) + 1) % 3], numeric);
      });
    });
  }

  function filtering(table, scroll, number) {
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => !row.classList.contains("group-title"));
    if (rows.length < LATEST) return;
    const title = (row) => row.parentNode.querySelector(".group-title");
    const texts = new Map(rows.map((row) => [row, `${title(row)?.textContent ?? ""} ${row.textContent}`.toLowerCase()]));
    const id = `filter-${number}`;
    const field = make("input", { type: "search", id, autocomplete: "off", spellcheck: "false" });
    const count = make("span", { role: "status" });
    const line = make("p", { class: "filter" });
    line.append(make("label", { for: id }, "Filter rows"), field, count);
    scroll.before(line);

    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of rows) row.hidden = !words.every((word) => texts.get(row).includes(word));
      for (const body of table.tBodies) {
        body.hidden = ![...body.rows].some((row) => !row.hidden && !row.classList.contains("group-title"));
      }
      const shown = rows.filter((row) => !row.hidden).length;
      count.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
    });
  }

  /* A line says that a table scrolls, and the keyboard stops at it, only where it does. */
  function scrolling(scroll) {
    const hint = make("p", { class: "hint" }, "This table scrolls sideways.");
    hint.hidden = true;
    scroll.before(hint);
    const look = () => {
      const scrolls = scroll.scrollWidth > scroll.clientWidth + 1;
      hint.hidden = !scrolls;
      if (scrolls) scroll.setAttribute("tabindex", "0");
      else if (scroll.clientWidth) scroll.removeAttribute("tabindex");
    };
    const observer = new ResizeObserver(look);
    observer.observe(scroll);
    observer.observe(scroll.firstElementChild);
    look();
  }

  document.querySelectorAll(".scroll").forEach((scroll, number) => {
    const table = scroll.querySelector("table");
    if (!table.tHead) return;
    sorting(table);
    filtering(table, scroll, number);
    scrolling(scroll);
  });

  /* ----------------------------------------------------------------------------------------- figures */

  const REACH = 28; // pixels from a mark at which its values show
  const tip = make("div", { class: "tip", role: "status" });
  tip.hidden = true;
  document.body.append(tip);
  let current = null;
  let lastPoint = ""; // a page that scrolls under a pointer at rest is no move

  function hide() {
    tip.hidden = true;
    if (current) current.element.classList.remove("on");
    current = null;
  }

  function show(mark) {
    if (mark === current) return;
    hide();
    current = mark;
    mark.element.classList.add("on");
    tip.textContent = mark.text;
    tip.hidden = false;
    place();
  }

  function place() {
    if (!current) return;
    const box = current.element.getBoundingClientRect(), own = tip.getBoundingClientRect();
    const left = Math.min(Math.max(4, box.left + box.width / 2 - own.width / 2), innerWidth - own.width - 4);
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${box.top - own.height - 8 > 4 ? box.top - own.height - 8 : box.bottom + 8}px`;
  }

  function values(svg) {
    const marks = [...svg.querySelectorAll(".marks rect")].map((element) => {
      const text = element.firstElementChild.textContent; // from here on the page shows it, not the browser
      element.firstElementChild.remove();
      return { element, text };
    });
    if (!marks.length) return;
    svg.querySelector("title")?.remove(); // aria-label is the same
    svg.setAttribute("role", "application");
    svg.setAttribute("aria-roledescription", "figure; arrow keys go through its values");
    svg.setAttribute("tabindex", "0");

    function nearest(x, y) {
      let best = null, least = REACH;
      for (const mark of marks) {
        const box = mark.element.getBoundingClientRect();
        const distance = Math.hypot(
          Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom),
        ) + Math.hypot(box.left + box.width / 2 - x, box.top + box.height / 2 - y) / 1e4;
        if (distance < least) [best, least] = [mark, distance];
      }
      return best;
    }

    function point(event) {
      const here = `${event.screenX} ${event.screenY}`;
      if (event.type === "pointermove" && here === lastPoint) return;
      lastPoint = here;
      const mark = nearest(event.clientX, event.clientY);
      if (mark) show(mark);
      else hide();
    }

    svg.addEventListener("pointermove", point);
    svg.addEventListener("pointerdown", point);
    svg.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse" && !svg.matches(":focus-visible")) hide(); });
    svg.addEventListener("focus", () => { if (svg.matches(":focus-visible")) show(marks[0]); });
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", (event) => {
      const at = marks.indexOf(current), last = marks.length - 1;
      const to = {
        ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: last,
      }[event.key];
      if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      show(marks[Math.min(Math.max(to, 0), last)]);
    });
  }

  document.querySelectorAll("figure > svg").forEach(values);
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  addEventListener("scroll", place, { passive: true, capture: true });
  document.addEventListener("pointerdown", (event) => { if (!event.target.closest("figure svg")) hide(); });

  /* ------------------------------------------------------------------- contents, and what is folded */

  document.documentElement.classList.add("live");
  const contents = document.querySelector(".contents");
  const folded = [...document.querySelectorAll("main details:not(.menu)")];

  if (contents) {
    const fit = () => { contents.open = wide.matches; };
    wide.addEventListener("change", fit);
    fit();
    const links = [...contents.querySelectorAll("a")];
    for (const link of links) link.addEventListener("click", () => { if (!wide.matches) contents.open = false; });
    const targets = links.map((link) => document.getElementById(link.hash.slice(1)));
    const follow = () => {
      const above = (target) => target && target.getBoundingClientRect().top < innerHeight * 0.35;
      const at = Math.max(0, targets.findLastIndex(above));
      links.forEach((link, number) => {
        if (number === at) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      });
    };
    addEventListener("scroll", follow, { passive: true });
    follow();
    if (folded.length) {
      const button = make("button", { type: "button" }, "Open all details");
      button.addEventListener("click", () => {
        const open = folded.some((details) => !details.open);
        for (const details of folded) details.open = open;
        button.textContent = open ? "Close all details" : "Open all details";
      });
      contents.append(button);
    }
  }

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = folded.filter((details) => !details.open);
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
    opened = [];
  });
})();
