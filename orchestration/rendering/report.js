// The report's first page: tables that are sorted by a click, a search, and the state of a twin's arms at a tick.
// Without scripts every number stays; the search reads `search.js`, a script beside the page, once it is needed.
"use strict";

function value(cell) {
  const text = cell?.textContent.trim() ?? "";
  const number = /^[-+−]?[\d,]+(\.\d+)?/.exec(text);
  return number ? parseFloat(number[0].replaceAll(",", "").replace("−", "-")) : text.toLowerCase();
}

function compare(a, b) {
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
}

for (const head of document.querySelectorAll("table.cards thead th")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "sorts";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const body = head.closest("table").tBodies[0];
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const rows = [...body.rows].map(row => [value(row.cells[head.cellIndex]), row]);
    rows.sort(([a], [b]) => (up ? compare(a, b) : compare(b, a)));
    body.append(...rows.map(([, row]) => row));
  });
}

const search = document.getElementById("search");
const MOST = 20;
let sought = null;
search.hidden = false;
globalThis.found = list => { sought = list; show(); };

function show() {
  const text = search.elements.q.value.trim();
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = !words.length ? [] : sought.filter(([said, , answers]) => answers || words.every(word => said.toLowerCase().includes(word)));
  const lines = fits.map(([said, place, answers]) => {
    const line = document.createElement("li"), link = document.createElement("a");
    link.href = answers ? `${place}?q=${encodeURIComponent(text)}` : place;
    link.textContent = answers ? `search the answers of ${said}` : said;
    line.append(link);
    return line;
  });
  const numbers = fits.filter(([, , answers]) => !answers).length;
  document.getElementById("found").replaceChildren(...lines.slice(0, Math.min(numbers, MOST)), ...lines.slice(numbers));
  document.getElementById("said").textContent = words.length ? `${numbers} numbers${numbers > MOST ? `, the first ${MOST} shown` : ""}` : "";
}

search.addEventListener("submit", event => event.preventDefault());
search.addEventListener("input", () => {
  if (sought) return show();
  const script = document.createElement("script");
  script.src = "search.js";
  document.head.append(script);
});

const state = document.getElementById("state");
const facts = JSON.parse(document.getElementById("facts").textContent);
const holds = (spans, tick) => spans.some(([from, to]) => from <= tick && (to === null || tick < to));

function draw() {
  const tick = Number(state.querySelector("input").value);
  state.querySelector("output").value = tick;
  for (const list of state.querySelectorAll("[data-arm]")) {
    const arm = Number(list.dataset.arm);
    const here = facts.filter(fact => holds(fact[arm + 1], tick)).map(([said, ...spans]) => [said, !holds(spans[1 - arm], tick)]);
    const lines = here.sort(([, a], [, b]) => b - a).map(([said, only]) => {
      const line = document.createElement("li");
      line.textContent = only ? `${said} (only in ${"AB"[arm]})` : said;
      if (only) line.className = "only";
      return line;
    });
    list.replaceChildren(...lines);
  }
}

state.hidden = false;
state.addEventListener("input", draw);
draw();
