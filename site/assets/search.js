// The search box: Pagefind over HTTP, opened by the button, "/" or Ctrl/Cmd-K.
const root = new URL(document.querySelector('meta[name="lorepack-root"]').content + "/", location.href);
let index;

async function pagefind() {
  if (!index) {
    index = await import(new URL("pagefind/pagefind.js", root));
    await index.options({ baseUrl: root.pathname, excerptLength: 24 });
  }
  return index;
}

function element(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const input = element("input", { type: "search", placeholder: "Search", "aria-label": "Search", autocomplete: "off" });
const status = element("div", { role: "status" });
const list = element("ol", {});
const dialog = element("dialog", { class: "lore-search", "aria-label": "Search" }, input, status, list);
document.body.append(dialog);

const button = element("button", { class: "md-header__button md-icon lore-search-open", type: "button", "aria-label": "Search" });
button.innerHTML = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" aria-hidden="true"><path d="M9.5 3A6.5 6.5 0 0 1 16 9.5c0 1.61-.59 3.09-1.56 4.23l.27.27h.79l5 5-1.5 1.5-5-5v-.79l-.27-.27A6.5 6.5 0 1 1 9.5 3m0 2a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9"/></svg>';
document.querySelector(".md-header__inner").append(button);

function open() {
  if (!dialog.open) dialog.showModal();
  input.focus();
  input.select();
  pagefind().catch(() => { status.textContent = "Search needs this site to be served over HTTP."; });
}

function result(data) {
  const item = element("li", {});
  const hits = data.sub_results.length ? data.sub_results.slice(0, 3) : [data];
  for (const hit of hits) {
    const excerpt = element("span", {});
    excerpt.innerHTML = hit.excerpt; // Pagefind escapes all but its own <mark>.
    const heading = hit.title && hit.title !== data.meta.title ? `${data.meta.title} › ${hit.title}` : data.meta.title;
    item.append(element("a", { href: hit.url }, element("strong", {}, heading), excerpt));
  }
  return item;
}

async function search() {
  const query = input.value.trim();
  if (!query) {
    list.replaceChildren();
    status.textContent = "";
    return;
  }
  const found = await (await pagefind()).search(query);
  const shown = await Promise.all(found.results.slice(0, 12).map((hit) => hit.data()));
  if (query !== input.value.trim()) return; // a newer keystroke is on its way
  status.textContent = `${found.results.length} page${found.results.length === 1 ? "" : "s"}`;
  list.replaceChildren(...shown.map(result));
}

let waiting;
function searchSoon() {
  clearTimeout(waiting);
  waiting = setTimeout(() => search().catch((error) => { status.textContent = `Search failed: ${error.message}`; }), 120);
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
  if (event.key === "ArrowDown" || event.key === "ArrowUp") step(event);
});
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName) || document.activeElement.isContentEditable;
  const slash = event.key === "/" && !typing && !event.ctrlKey && !event.metaKey;
  if (slash || (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey))) {
    event.preventDefault();
    open();
  }
});
