// The search box: opened by its button, "/" or Ctrl/Cmd-K; filters by source, tag, lifecycle, language.
"use strict";

(() => {
  const { local, script, element, address, search } = window.lorepack;
  const backend = local ? search.embedded : search.pagefind;
  const SHOWN = 15;
  const FILTERS = ["source", "language", "lifecycle", "tag"];
  const COLUMN = { source: 2, language: 3, lifecycle: 4, tag: 5 };

  search.pages = (table) => {
    search.table = table;
    search.fragments = new Map(table.rows.map((row, number) => [row[6], number]));
  };

  const input = element("input", { type: "search", placeholder: "Search", "aria-label": "Search", autocomplete: "off", spellcheck: "false" });
  const filters = element("div", { class: "lore-search-filters" });
  const status = element("div", { role: "status" });
  const list = element("ol");
  const dialog = element("dialog", { class: "lore-search", "aria-label": "Search" }, input, filters, status, list);
  document.body.append(dialog);

  const button = element("button", { class: "md-header__button md-icon lore-search-open", type: "button", "aria-label": "Search", title: "Search (/)" });
  const icon = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  icon.setAttribute("viewBox", "0 0 24 24");
  icon.setAttribute("aria-hidden", "true");
  const glass = document.createElementNS(icon.namespaceURI, "path");
  glass.setAttribute("d", "M9.5 3A6.5 6.5 0 0 1 16 9.5c0 1.61-.59 3.09-1.56 4.23l.27.27h.79l5 5-1.5 1.5-5-5v-.79l-.27-.27A6.5 6.5 0 1 1 9.5 3m0 2a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9");
  icon.append(glass);
  button.append(icon);
  document.querySelector(".md-header__inner").append(button);

  let ready;
  function load() {
    ready ||= script("search/pages.js").then(() => { addFilters(); return backend.load(); });
    return ready;
  }

  function addFilters() {
    for (const name of FILTERS) {
      const values = search.table[name].map((value, number) => [value, number]).filter(([value]) => value).sort();
      if (search.table[name].length < 2) continue;
      const select = element("select", { name }, element("option", { value: "" }, `any ${name}`));
      for (const [value, number] of values) select.append(element("option", { value: number }, value));
      select.addEventListener("change", () => { searchSoon(); });
      filters.append(element("label", {}, element("span", { class: "lore-hidden" }, name), select));
    }
  }

  function passes(row) {
    return [...filters.querySelectorAll("select")].every(({ name, value }) => {
      const own = row[COLUMN[name]];
      return value === "" || (Array.isArray(own) ? own.includes(Number(value)) : own === Number(value));
    });
  }

  function open() {
    if (!dialog.open) dialog.showModal();
    input.focus();
    input.select();
    load().catch((error) => { status.textContent = `Search cannot start: ${error.message}`; });
  }

  function excerpt(parts) {
    return element("span", {}, ...parts.map(([text, marked]) => marked ? element("mark", {}, text) : text));
  }

  function entry(row, hits, query) {
    const [title, url] = row;
    const language = search.table.language[row[3]];
    return element("li", { lang: language }, ...hits.map(({ heading, anchor, excerpt: parts }) => element(
      "a", { href: address(url, query, anchor) },
      element("strong", {}, heading && heading !== title ? `${title} › ${heading}` : title),
      excerpt(parts),
    )));
  }

  // Without a question, filters list the pages that pass.
  function byFilterAlone() {
    const chosen = [...filters.querySelectorAll("select")].some(({ value }) => value !== "");
    const numbers = chosen ? search.table.rows.keys() : [];
    return [...numbers].map((number) => ({ number, hits: async () => [{ heading: "", anchor: "", excerpt: [] }] }));
  }

  let turn = 0;
  async function run() {
    const mine = ++turn;
    await load();
    const query = input.value.trim();
    const found = (query ? await backend.find(query) : byFilterAlone())
      .map((result) => ({ ...result, row: search.table.rows[result.number ?? search.fragments.get(result.fragment)] }))
      .filter(({ row }) => row && passes(row));
    const shown = await Promise.all(found.slice(0, SHOWN).map(async ({ row, hits }) => entry(row, await hits(), query)));
    if (mine !== turn) return; // a newer keystroke is on its way
    status.textContent = query || found.length ? `${found.length} page${found.length === 1 ? "" : "s"}` : "";
    list.replaceChildren(...shown);
  }

  let waiting;
  function searchSoon() {
    clearTimeout(waiting);
    waiting = setTimeout(() => run().catch((error) => { status.textContent = `Search failed: ${error.message}`; }), 120);
  }

  function step(event) {
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    const next = event.key === "ArrowDown" ? links[at + 1] : links[at - 1] || input;
    if (next) next.focus();
    event.preventDefault();
  }

  button.addEventListener("click", open);
  input.addEventListener("input", searchSoon);
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("keydown", (event) => {
    if (event.target.tagName !== "SELECT" && (event.key === "ArrowDown" || event.key === "ArrowUp")) step(event);
    if (event.key === "Enter" && event.target === input) list.querySelector("a")?.click();
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName) || document.activeElement.isContentEditable;
    const slash = event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (slash || (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      open();
    }
  });
})();
