// Search over HTTP. Pagefind's copy of the pages holds the signs of scripts without spaces apart,
// and "ȉ" for "ı" (builder/render/search/pagefind.py): so it is asked, and what it shows put right.
"use strict";

window.lorepack.search.pagefind = (() => {
  const { root, beginning, fold, pattern, search, terms, unspaced } = window.lorepack;
  const PUNCTUATION = "\\u3000-\\u303f\\uff00-\\uffef";
  const GAP = new RegExp(`(?<=${unspaced.source}|[${PUNCTUATION}])((?:</?mark>)*) ((?:</?mark>)*)(?=${unspaced.source}|[${PUNCTUATION}])`, "gu");
  let index;

  const asked = (text) => text.replaceAll("ı", "ȉ");
  const shown = (text) => text.replace(GAP, "$1$2").replaceAll("ȉ", "ı").replaceAll("</mark><mark>", "");

  // Pagefind takes quotes for a query as a whole, so each phrase is a query of its own.
  function queries(query) {
    const found = terms(query);
    const words = found.filter((term) => !term.unspaced && !term.phrase).map((term) => beginning(term.text));
    const phrases = found.filter((term) => term.unspaced || term.phrase)
      .map((term) => `"${[...term.text].map((sign) => unspaced.test(sign) ? ` ${sign} ` : sign).join("").replace(/\s+/g, " ").trim()}"`);
    return [...(words.length ? [words.join(" ")] : []), ...phrases].map(asked);
  }

  async function load() {
    if (!index) {
      index = await import(new URL("pagefind/pagefind.js", root));
      await index.options({ excerptLength: 24 });
    }
  }

  // Words that begin with a term may lie in parts of the index beyond the one that holds the term
  // itself, and Pagefind asks for that one alone.
  async function preload(query) {
    const words = terms(query).filter((term) => !term.unspaced).flatMap((term) => asked(beginning(term.text)).split(/\s+/));
    const ends = (word) => (word.length < 4 ? "eimrt\uffff" : "\uffff");
    await Promise.all(words.flatMap((word) => [...ends(word)].map((end) => index.preload(word + end))));
  }

  // Results by Pagefind's id, best first; `hits` loads what is shown of one.
  async function find(query) {
    await load();
    await preload(query);
    const lists = await Promise.all(queries(query).map(async (text) => (await index.search(text)).results));
    const scores = lists.map((list) => new Map(list.map((result) => [result.id, result.score])));
    const [first = [], ...others] = lists;
    const wanted = terms(query).map(pattern);
    return first
      .filter((result) => others.every((_, at) => scores[at + 1].has(result.id)))
      .map((result) => ({
        fragment: result.id,
        score: scores.reduce((sum, known) => sum + known.get(result.id), 0) * (1 + 3 * inTitle(result.id, wanted)),
        hits: () => hits(result),
      }))
      .sort((a, b) => b.score - a.score);
  }

  // The part of the terms that the title holds. Pagefind rates phrases all alike.
  function inTitle(id, wanted) {
    const row = search.table.rows[search.fragments.get(id)];
    return row ? wanted.filter((term) => fold(row[0]).search(term) >= 0).length / wanted.length : 0;
  }

  async function hits(result) {
    const data = await result.data();
    const parts = data.sub_results.length ? data.sub_results.slice(0, 3) : [data];
    return parts.map((part) => ({
      heading: part.anchor ? shown(part.anchor.text) : "",
      anchor: part.anchor ? part.anchor.id : "",
      excerpt: segments(shown(part.excerpt)),
    }));
  }

  // The excerpt is HTML whose only tag is <mark>; a template's content does nothing.
  function segments(html) {
    const inert = document.createElement("template");
    inert.innerHTML = html;
    return [...inert.content.childNodes].map((node) => [node.textContent, node.nodeName === "MARK"]);
  }

  return { load, find };
})();
