// The graph view. The build laid the points out; here they are drawn, searched and opened.
"use strict";

window.lorepack.graph = (data) => {
  const { address, element, fold } = window.lorepack;
  const [TITLE, URL_, X, Y] = [0, 1, 2, 3];
  const COLOURED_BY = { source: [4, data.sources], lifecycle: [5, data.lifecycles], tag: [6, data.tags] };
  const HUES = 12;
  const { nodes, edges } = data;

  const canvas = document.querySelector(".lore-graph canvas");
  const form = document.querySelector(".lore-filters");
  const list = document.querySelector(".lore-graph-list");
  const legend = document.querySelector(".lore-graph-legend");
  const pen = canvas.getContext("2d");
  const neighbours = nodes.map(() => []);
  for (let at = 0; at < edges.length; at += 2) {
    neighbours[edges[at]].push(edges[at + 1]);
    neighbours[edges[at + 1]].push(edges[at]);
  }
  const radius = (node) => 2.5 + Math.min(9, Math.sqrt(neighbours[node].length));
  const labelled = nodes.map((_, node) => node).sort((a, b) => neighbours[b].length - neighbours[a].length);

  let visible = null; // a set of nodes, or null for all
  let found = new Set();
  let focus = -1;
  let hover = -1;
  let view = { x: 0, y: 0, scale: 0.3 };
  let colours = [];
  let wanted = false;

  const open = (node) => { location.href = address(nodes[node][URL_]); };
  const shown = (node) => visible === null || visible.has(node);
  const style = (name) => getComputedStyle(document.body).getPropertyValue(name).trim();

  function colour() {
    const [column, names] = COLOURED_BY[form.elements.colour.value];
    const dark = document.body.getAttribute("data-md-color-scheme") === "slate";
    const counts = new Map();
    for (const node of nodes) counts.set(node[column], (counts.get(node[column]) || 0) + 1);
    const ranked = [...counts].sort((a, b) => b[1] - a[1]).map(([value]) => value);
    const hue = (value) => {
      const at = ranked.indexOf(value);
      return names[value] === "" || at >= HUES ? (dark ? "#9aa0a6" : "#6b7075") : `hsl(${(at * 360) / HUES + 175} 60% ${dark ? 62 : 40}%)`;
    };
    colours = nodes.map((node) => hue(node[column]));
    legend.replaceChildren(...ranked.slice(0, HUES).map((value) => {
      const dot = element("span", { class: "lore-dot" });
      dot.style.background = hue(value);
      return element("span", {}, dot, names[value] || "none");
    }));
  }

  function draw() {
    wanted = false;
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (canvas.width !== width * ratio || canvas.height !== height * ratio) {
      canvas.width = width * ratio;
      canvas.height = height * ratio;
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const sx = (node) => (nodes[node][X] - view.x) * view.scale + width / 2;
    const sy = (node) => (nodes[node][Y] - view.y) * view.scale + height / 2;
    const inside = (x, y) => x > -20 && y > -20 && x < width + 20 && y < height + 20;
    pen.beginPath();
    for (let at = 0; at < edges.length; at += 2) {
      if (!shown(edges[at]) || !shown(edges[at + 1])) continue;
      const [x1, y1, x2, y2] = [sx(edges[at]), sy(edges[at]), sx(edges[at + 1]), sy(edges[at + 1])];
      if (!inside(x1, y1) && !inside(x2, y2)) continue;
      pen.moveTo(x1, y1);
      pen.lineTo(x2, y2);
    }
    pen.strokeStyle = style("--md-default-fg-color--lighter");
    pen.lineWidth = 0.6;
    pen.stroke();
    const byColour = new Map();
    const size = Math.max(0.5, Math.min(1.6, view.scale * 1.6));
    for (let node = 0; node < nodes.length; node += 1) {
      if (!shown(node)) continue;
      const [x, y] = [sx(node), sy(node)];
      if (!inside(x, y)) continue;
      if (!byColour.has(colours[node])) byColour.set(colours[node], new Path2D());
      const path = byColour.get(colours[node]);
      path.moveTo(x + radius(node) * size, y);
      path.arc(x, y, radius(node) * size, 0, 2 * Math.PI);
    }
    pen.globalAlpha = found.size ? 0.3 : 1;
    for (const [fill, path] of byColour) { pen.fillStyle = fill; pen.fill(path); }
    pen.globalAlpha = 1;
    const text = style("--md-default-fg-color");
    pen.font = `12px ${style("font-family") || "sans-serif"}`;
    pen.textAlign = "center";
    const label = (node) => { pen.fillStyle = text; pen.fillText(nodes[node][TITLE].slice(0, 40), sx(node), sy(node) - radius(node) * size - 4); };
    const marked = [...found, focus, hover].filter((node) => node >= 0 && shown(node));
    for (const node of marked.slice(-40)) {
      pen.fillStyle = style("--md-accent-fg-color");
      pen.beginPath();
      pen.arc(sx(node), sy(node), radius(node) * size + 2, 0, 2 * Math.PI);
      pen.fill();
      label(node);
    }
    const few = visible ? visible.size : nodes.length;
    const room = Math.min(few, Math.round(30 * Math.max(0.4, view.scale)));
    const taken = [];
    for (const node of labelled) {
      if (taken.length >= room) break;
      const [x, y] = [sx(node), sy(node)];
      if (!shown(node) || !inside(x, y) || taken.some(([tx, ty]) => Math.abs(tx - x) < 110 && Math.abs(ty - y) < 16)) continue;
      taken.push([x, y]);
      if (!marked.includes(node)) label(node);
    }
  }

  function redraw() {
    if (!wanted) { wanted = true; requestAnimationFrame(draw); }
  }

  function fit() {
    const drawn = nodes.filter((_, node) => shown(node));
    const [xs, ys] = [drawn.map((node) => node[X]), drawn.map((node) => node[Y])];
    const span = (values) => values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
    const [[left, right], [top, bottom]] = [span(xs), span(ys)];
    if (!drawn.length) return;
    const scale = Math.min(canvas.clientWidth / (right - left + 100), canvas.clientHeight / (bottom - top + 100));
    view = { x: (left + right) / 2, y: (top + bottom) / 2, scale: Math.min(4, scale) };
  }

  function around(node, depth) {
    const reached = new Set([node]);
    let edge = [node];
    for (let step = 0; step < depth; step += 1) {
      edge = edge.flatMap((from) => neighbours[from]).filter((to) => !reached.has(to) && reached.add(to));
    }
    return reached;
  }

  function select() {
    const depth = Number(form.elements.depth.value);
    const query = fold(form.elements.find.value.trim());
    found = new Set(query ? [...nodes.keys()].filter((node) => fold(nodes[node][TITLE]).includes(query)) : []);
    if (found.size && ![...found].includes(focus)) focus = found.values().next().value;
    visible = focus >= 0 && depth ? around(focus, depth) : null;
    const listed = (found.size ? [...found] : focus >= 0 ? [focus, ...neighbours[focus]] : []).slice(0, 30);
    list.replaceChildren(element("ul", {}, ...listed.map((node) => element("li", {}, element("a", { href: address(nodes[node][URL_]) }, nodes[node][TITLE])))));
    if (query && !found.size) list.textContent = "No page has that in its title.";
    redraw();
  }

  function nearest(event) {
    const box = canvas.getBoundingClientRect();
    const x = (event.clientX - box.left - box.width / 2) / view.scale + view.x;
    const y = (event.clientY - box.top - box.height / 2) / view.scale + view.y;
    let [best, least] = [-1, (12 / view.scale) ** 2];
    for (let node = 0; node < nodes.length; node += 1) {
      const distance = (nodes[node][X] - x) ** 2 + (nodes[node][Y] - y) ** 2;
      if (distance < least && shown(node)) [best, least] = [node, distance];
    }
    return best;
  }

  function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
    const scale = Math.max(0.05, Math.min(12, view.scale * factor));
    const [dx, dy] = [x - canvas.clientWidth / 2, y - canvas.clientHeight / 2];
    view = { x: view.x + dx / view.scale - dx / scale, y: view.y + dy / view.scale - dy / scale, scale };
    redraw();
  }

  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, y: event.clientY, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag) {
      const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
      drag = { x: event.clientX, y: event.clientY, moved: drag.moved || Math.abs(dx) + Math.abs(dy) > 2 };
      view.x -= dx / view.scale;
      view.y -= dy / view.scale;
      redraw();
      return;
    }
    const node = nearest(event);
    canvas.style.cursor = node < 0 ? "grab" : "pointer";
    if (node !== hover) { hover = node; redraw(); }
  });
  canvas.addEventListener("pointerup", (event) => {
    const node = drag && !drag.moved ? nearest(event) : -1;
    drag = null;
    if (node >= 0) open(node);
  });
  canvas.addEventListener("wheel", (event) => {
    const box = canvas.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
    event.preventDefault();
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = 60 / view.scale;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (moves[event.key]) {
      view.x += moves[event.key][0];
      view.y += moves[event.key][1];
      redraw();
    } else if (event.key === "+" || event.key === "-") {
      zoom(event.key === "+" ? 1.25 : 0.8);
    } else return;
    event.preventDefault();
  });
  form.addEventListener("input", (event) => {
    if (event.target.name === "colour") colour();
    select();
    if (event.target.name === "depth") fit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (found.size) open(found.values().next().value);
  });
  form.elements.reset.addEventListener("click", () => {
    [focus, form.elements.find.value, form.elements.depth.value] = [-1, "", "0"];
    select();
    fit();
  });
  new ResizeObserver(redraw).observe(canvas);
  new MutationObserver(() => { colour(); redraw(); }).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });

  const asked = new URL(location.href).searchParams.get("page");
  focus = asked ? nodes.findIndex((node) => node[URL_] === asked) : -1;
  if (focus >= 0) form.elements.depth.value = "1";
  form.hidden = false;
  colour();
  select();
  fit();
  redraw();
  canvas.dataset.drawn = String(nodes.length);
};
