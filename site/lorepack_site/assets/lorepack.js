// What every page needs: where the site is, words and their folding, math, diagrams, and links
// that work from file:// too.
"use strict";

window.lorepack = (() => {
  const base = document.querySelector('meta[name="lorepack-root"]').content;
  const root = new URL(base.replace(/\/?$/, "/"), location.href);
  const local = location.protocol === "file:";
  const loading = new Map();

  // The same scripts as lorepack/text/tokenize.py holds for written without spaces.
  const UNSPACED = "\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u1100-\\u11ff\\u3040-\\u30ff\\u3130-\\u318f\\u31f0-\\u31ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\u{20000}-\\u{3ffff}";
  const RUNS = new RegExp(`[${UNSPACED}]+|[^${UNSPACED}]+`, "gu");
  const unspaced = new RegExp(`[${UNSPACED}]`, "u");

  function add(path, make) {
    if (!loading.has(path)) {
      loading.set(path, new Promise((done, failed) => {
        const node = make(new URL(path, root).href);
        node.addEventListener("load", () => done());
        node.addEventListener("error", () => failed(new Error(`${path} cannot be loaded`)));
        document.head.append(node);
      }));
    }
    return loading.get(path);
  }
  const script = (path) => add(path, (src) => Object.assign(document.createElement("script"), { src }));
  const style = (path) => add(path, (href) => Object.assign(document.createElement("link"), { rel: "stylesheet", href }));

  function element(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  // The address of a page: a folder, which from file:// is a file in it.
  function address(url, query = "", anchor = "") {
    const page = new URL(url.split("/").map(encodeURIComponent).join("/"), root);
    if (local) page.pathname += "index.html";
    page.search = query && `?highlight=${encodeURIComponent(query)}`;
    page.hash = anchor && `#${encodeURIComponent(anchor)}`;
    return page.href;
  }

  // Lower case in which İ, I, ı and i meet, without Latin marks, of the same length.
  function fold(text) {
    return text.replace(/[İı]/g, "i").toLowerCase()
      .replace(/[\u00c0-\u024f\u1e00-\u1eff]/g, (sign) => sign.normalize("NFD")[0]);
  }

  // The words of a query: phrases in quotes whole, runs of scripts without spaces by themselves.
  function terms(query) {
    const found = [];
    for (const [, phrase, word] of query.normalize("NFC").matchAll(/"([^"]+)"|(\S+)/g)) {
      if (phrase && phrase.trim()) found.push({ text: phrase.trim(), phrase: true });
      for (const text of (word || "").replaceAll('"', "").match(RUNS) || []) found.push({ text, phrase: false });
    }
    for (const term of found) term.unspaced = unspaced.test(term.text[0]);
    return found;
  }

  // The beginning that the forms of a word share, as far as English endings go.
  function beginning(word) {
    if (!/^[A-Za-z]{5,}$/.test(word)) return word;
    return word.replace(/(?:ies|es|s|ing|ed|e|y)$/i, "").replace(/([bdfgmnprt])\1$/i, "$1");
  }

  // A pattern for a term in folded text: from the start of a word to its end.
  function pattern(term) {
    const escaped = fold(term.phrase ? term.text : beginning(term.text)).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    if (term.unspaced) return new RegExp(escaped, "gu");
    const rest = term.phrase ? "" : `(?:(?![${UNSPACED}])[\\p{L}\\p{N}])*`;
    return new RegExp(`(?:(?<![\\p{L}\\p{N}])|(?<=[${UNSPACED}]))${escaped}${rest}`, "gu");
  }

  return { root, local, script, style, element, address, beginning, fold, terms, pattern, unspaced, search: {} };
})();

(() => {
  const { local, script, style, element, fold, terms, pattern } = window.lorepack;

  if (local) {
    document.addEventListener("click", (event) => {
      const link = event.target.closest && event.target.closest("a[href]");
      if (!link || link.protocol !== "file:" || !link.pathname.endsWith("/")) return;
      const url = new URL(link.href);
      url.pathname += "index.html";
      link.href = url.href;
    });
  }

  async function drawMath(places) {
    await Promise.all([style("assets/katex/katex.min.css"), script("assets/katex/katex.min.js")]);
    for (const place of places) {
      const source = place.textContent;
      const options = { displayMode: source.startsWith("\\["), throwOnError: false, strict: "ignore", trust: false };
      window.katex.render(source.slice(2, -2), place, options);
    }
  }

  const dark = () => document.body.getAttribute("data-md-color-scheme") === "slate";

  async function drawDiagrams(places) {
    await script("assets/mermaid/mermaid.min.js");
    // Labels hold no HTML, and nodes no pictures from elsewhere.
    const sources = places.map((place) => place.textContent.replace(/(?<!<)<(?!\/?(?:br|b|i|u|em|strong)\b)(?=\/?[a-z])/gi, "‹").replace(/\bimg(?=["']?\s*:)/g, "image"));
    const figures = places.map((place) => {
      const figure = element("div", { class: "lore-diagram", role: "img", "aria-label": `Diagram. ${place.textContent.trim().slice(0, 400)}` });
      if (place.id) figure.id = place.id;
      return figure;
    });
    async function draw() {
      window.mermaid.initialize({
        startOnLoad: false, securityLevel: "strict", theme: dark() ? "dark" : "default", fontFamily: "inherit",
        htmlLabels: false, flowchart: { htmlLabels: false },
        secure: ["secure", "htmlLabels", "securityLevel", "startOnLoad", "maxTextSize", "maxEdges", "themeCSS", "fontFamily", "suppressErrorRendering"],
        suppressErrorRendering: true,
      });
      for (const [number, place] of places.entries()) {
        try {
          const { svg } = await window.mermaid.render(`lore-diagram-${number}`, sources[number]);
          figures[number].innerHTML = svg;
          if (place.isConnected) place.replaceWith(figures[number]);
        } catch (error) {
          place.title = `This diagram cannot be drawn: ${error.message || error}`;
        }
      }
    }
    await draw();
    let drawnDark = dark();
    new MutationObserver(() => {
      if (dark() !== drawnDark) { drawnDark = dark(); draw(); }
    }).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
  }

  // Words looked for stay marked on the page that they led to.
  function highlight(query) {
    if (!window.CSS || !CSS.highlights) return;
    const patterns = terms(query).map(pattern);
    const ranges = [];
    const walk = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const text = fold(walk.currentNode.data);
      for (const wanted of patterns) {
        for (const hit of text.matchAll(wanted)) {
          const range = new Range();
          range.setStart(walk.currentNode, hit.index);
          range.setEnd(walk.currentNode, hit.index + hit[0].length);
          ranges.push(range);
        }
      }
    }
    CSS.highlights.set("lore-search", new Highlight(...ranges));
  }

  const math = [...document.querySelectorAll(".arithmatex")];
  if (math.length) drawMath(math);
  const diagrams = [...document.querySelectorAll("pre.lore-mermaid")];
  if (diagrams.length) drawDiagrams(diagrams);
  const wanted = new URL(location.href).searchParams.get("highlight");
  if (wanted) highlight(wanted);
})();
