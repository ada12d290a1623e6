// Filters of the lint report. Without scripts the whole list stands.
"use strict";

(() => {
  const form = document.querySelector(".lore-filters");
  if (!form) return;
  const rows = [...document.querySelectorAll(".lore-lint tbody tr")];
  const output = form.querySelector("output");

  function filter() {
    let shown = 0;
    for (const row of rows) {
      row.hidden = ["rule", "severity"].some((name) => form.elements[name].value && form.elements[name].value !== row.dataset[name]);
      shown += row.hidden ? 0 : 1;
    }
    output.textContent = `${shown} shown`;
  }

  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
})();
