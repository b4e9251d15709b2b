// The report's pages: tables that are sorted by a click, a search, the state of logs at a tick.
// Without scripts every number stays; data are scripts beside the page, which may be loaded from disk.
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

function load(place) {
  const script = document.createElement("script");
  script.src = place;
  document.head.append(script);
}

function item(text, className) {
  const line = document.createElement("li");
  line.textContent = text;
  if (className) line.className = className;
  return line;
}

// Beside the page there is room for the contents; above it they fold.
const contents = document.querySelector("nav[aria-label=Contents] details"), wide = matchMedia("(min-width: 90rem)");
const unfold = () => { if (contents) contents.open = wide.matches; };
wide.addEventListener("change", unfold);
unfold();

const search = document.getElementById("search");
const MOST = 20;
let sought = null;
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
  document.getElementById("said").textContent = words.length ? `${numbers} number${numbers === 1 ? "" : "s"}${numbers > MOST ? `, the first ${MOST} shown` : ""}` : "";
}

if (search) {
  search.hidden = false;
  search.addEventListener("submit", event => event.preventDefault());
  search.addEventListener("input", () => (sought ? show() : load("search.js")));
}

// The state at a tick. A fact is its words and, for each of two logs, the spans in which it holds there.
const state = document.getElementById("state");
const holds = (spans, tick) => spans.some(([from, to]) => from <= tick && (to === null || tick < to));
let facts = [], beside = true, logs = [];

function draw() {
  const tick = Number(state.querySelector("[type=range]").value);
  const words = state.querySelector("[type=search]")?.value.toLowerCase() ?? "";
  state.querySelector("output").value = tick;
  for (const list of state.querySelectorAll("[data-arm]")) {
    const arm = Number(list.dataset.arm), spans = fact => fact[arm + 1];
    const here = facts.filter(fact => holds(spans(fact), tick) && fact[0].toLowerCase().includes(words));
    // Apart is what the other log has not; without another log, what began at this tick.
    const apart = fact => (beside ? !holds(fact[2 - arm], tick) : spans(fact).some(([from]) => from === tick));
    const lines = here.map(fact => [fact[0], apart(fact)]).sort(([, a], [, b]) => b - a);
    const why = beside ? (logs.length ? "only here" : `only in ${"AB"[arm]}`) : "new";
    list.replaceChildren(...lines.map(([said, only]) => item(only ? `${said} (${why})` : said, only && "only")));
  }
  const told = state.querySelector(".told");
  if (told) told.textContent = [0, 1].slice(0, beside ? 2 : 1).map(arm => `${facts.filter(fact => holds(fact[arm + 1], tick)).length} triples`).join(" beside ") + ` at tick ${tick}`;
}

// A page of several logs: the second is offered from those of the same answer and of the log that was forked.
function choose() {
  const form = state.querySelector("form"), left = logs[form.elements.left.value];
  const kin = logs.filter(log => log !== left && (log.answer === left.answer || log.parent === left.digest || log.digest === left.parent));
  form.elements.right.replaceChildren(new Option("nothing", ""), ...kin.map(log => new Option(log.title, logs.indexOf(log))));
  form.elements.right.value = kin.length ? String(logs.indexOf(kin[0])) : "";
  pair();
}

function pair() {
  const form = state.querySelector("form"), left = logs[form.elements.left.value], right = logs[form.elements.right.value];
  const heads = state.querySelectorAll("h2"), slider = state.querySelector("[type=range]");
  beside = Boolean(right);
  heads[0].textContent = left.title;
  heads[1].textContent = right?.title ?? "";
  heads[1].parentNode.hidden = !beside;
  const spans = new Map(left.triples.map(([said, held]) => [said, [said, held, []]]));
  for (const [said, held] of right?.triples ?? []) {
    if (spans.has(said)) spans.get(said)[2] = held;
    else spans.set(said, [said, [], held]);
  }
  facts = [...spans.values()].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
  slider.max = Math.max(left.last, right?.last ?? 0);
  draw();
}

globalThis.states = list => {
  if (!list.length) return; // nothing was explained
  logs = list;
  const asked = new URLSearchParams(location.search), form = state.querySelector("form");
  const wanted = logs.findIndex(log => log.answer === asked.get("answer"));
  if (wanted >= 0) form.elements.left.value = wanted;
  state.hidden = false;
  choose();
  const slider = state.querySelector("[type=range]");
  slider.value = asked.get("tick") ?? slider.max;
  form.addEventListener("submit", event => event.preventDefault());
  form.elements.left.addEventListener("change", choose);
  form.elements.right.addEventListener("change", pair);
  draw();
};

if (state) {
  state.addEventListener("input", event => event.target.tagName === "SELECT" || draw());
  if (state.dataset.source) load(state.dataset.source);
  else {
    facts = JSON.parse(document.getElementById("facts").textContent);
    state.hidden = false;
    draw();
  }
}
