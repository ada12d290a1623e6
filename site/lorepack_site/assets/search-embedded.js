// Search from file://, where nothing can be fetched: the texts travel as scripts, and are looked
// through.
"use strict";

window.lorepack.search.embedded = (() => {
  const { script, fold, terms, pattern, search } = window.lorepack;
  const texts = [];
  const AROUND = 70;

  search.text = (rows) => texts.push(...rows);

  async function load() {
    const { shards } = search.table;
    await Promise.all(Array.from({ length: shards }, (_, number) => script(`search/text-${number}.js`)));
    for (const row of texts) {
      if (row.length === 2) row.push(row[1].map(([, heading, text]) => [fold(heading), fold(text)]));
    }
  }

  async function find(query) {
    await load();
    const wanted = terms(query).map(pattern);
    const found = [];
    for (const [number, sections, folded] of texts) {
      const title = fold(search.table.rows[number][0]);
      let score = 0;
      const every = wanted.every((term) => {
        const inTitle = count(title, term);
        let inText = 0;
        for (const [heading, text] of folded) inText += 5 * count(heading, term) + count(text, term);
        score += 20 * inTitle + Math.log2(1 + inText);
        return inTitle + inText > 0;
      });
      if (every && wanted.length) found.push({ number, score, hits: async () => hits(sections, folded, wanted) });
    }
    return found.sort((a, b) => b.score - a.score || a.number - b.number);
  }

  function count(text, term) {
    let found = 0;
    for (const _ of text.matchAll(term)) found += 1;
    return found;
  }

  function hits(sections, folded, wanted) {
    const rated = sections.map((section, at) => {
      const [heading, text] = folded[at];
      const score = wanted.reduce((sum, term) => sum + 5 * count(heading, term) + count(text, term), 0);
      return { section, text, score };
    });
    const best = rated.filter((one) => one.score).sort((a, b) => b.score - a.score).slice(0, 3);
    return (best.length ? best : rated.slice(0, 1)).map(({ section: [anchor, heading, shown], text }) => ({
      anchor, heading, excerpt: excerpt(shown, text, wanted),
    }));
  }

  function excerpt(shown, folded, wanted) {
    const spots = wanted.flatMap((term) => [...folded.matchAll(term)].map((hit) => [hit.index, hit.index + hit[0].length]));
    spots.sort((a, b) => a[0] - b[0]);
    const start = Math.max(0, (spots.length ? spots[0][0] : 0) - AROUND);
    const end = Math.min(shown.length, start + 3 * AROUND);
    const parts = [];
    let at = start;
    for (const [from, to] of spots) {
      if (from < at || to > end) continue;
      parts.push([shown.slice(at, from), false], [shown.slice(from, to), true]);
      at = to;
    }
    parts.push([shown.slice(at, end) + (end < shown.length ? "…" : ""), false]);
    return parts;
  }

  return { load, find };
})();
