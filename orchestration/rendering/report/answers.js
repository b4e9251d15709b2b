// The table of a benchmark's answers: filter, search, pages, and an answer's steps where a row is opened.
// A page that was opened from disk may read no file, but it may run scripts that lie beside it: rows and
// explanations are scripts that hand over data, `rows([…])` and `explanations(shard, {…})`.
"use strict";

const page = JSON.parse(document.getElementById("page").textContent);
const RESULTS = { right: "right", wrong: "wrong", error: "cannot run", ungraded: "no gold" };
const PER_PAGE = 50;

const all = [];
const explained = new Map();
let shown = [], first = 0, loaded = 0;

const form = document.querySelector("form.filters");
const said = document.getElementById("said");
const body = document.getElementById("rows");
const [previous, next, place] = ["previous", "next", "place"].map(id => document.getElementById(id));

// What the scripts beside the page call.
globalThis.rows = list => {
  for (const [subset, scene, question, text, predicted, expected, result, shard, choices, error] of list) {
    const key = `${page.subsets[subset]}/${scene}/${question}`;
    // The name that `substrate explain` takes.
    const name = [page.benchmark, ...(page.subset_in_name ? [page.subsets[subset]] : []), scene, question].join("/");
    all.push({
      key, name, subset: page.subsets[subset], scene, question, text, predicted, expected, result: page.results[result],
      shard, choices, error, sought: `${key} ${name} ${text}`.toLowerCase(), open: false,
    });
  }
};
globalThis.explanations = (shard, found) => explained.set(shard, found);

function load(file) {
  return new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = file;
    script.onload = () => { script.remove(); done(); };
    script.onerror = () => failed(new Error(`${file} is not beside this page`));
    document.head.append(script);
  });
}

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

const padded = number => String(number).padStart(4, "0");
// Of a choice the key says that it is correct or wrong; wrong is said here of answers alone.
const HOLDS = { correct: "yes", wrong: "no" };
const holds = said => HOLDS[said] ?? said;

const isWrong = ([, predicted, expected]) => expected !== null && predicted !== expected;

function inShort(row, which) {
  if (!row.choices) return (which ? row.expected : row.predicted) ?? "";
  return row.choices.map(choice => holds(choice[which + 1]) ?? "–").join(", ");
}

function filter() {
  const { subset, result, q } = Object.fromEntries(new FormData(form));
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  shown = all.filter(row => (!subset || row.subset === subset) && (!result || row.result === result)
    && words.every(word => row.sought.includes(word)));
}

function draw() {
  first = Math.min(first, Math.max(0, PER_PAGE * Math.floor((shown.length - 1) / PER_PAGE)));
  body.replaceChildren();
  for (const row of shown.slice(first, first + PER_PAGE)) {
    body.append(lineOf(row));
    if (row.open) body.append(detailOf(row));
  }
  const waiting = loaded < page.shards ? `; ${loaded} of ${page.shards} parts are loaded` : "";
  said.textContent = `${shown.length.toLocaleString("en")} of ${all.length.toLocaleString("en")} answers${waiting}`;
  const last = Math.min(first + PER_PAGE, shown.length);
  place.textContent = shown.length ? `${(first + 1).toLocaleString("en")} to ${last.toLocaleString("en")}` : "none";
  previous.disabled = first === 0;
  next.disabled = last === shown.length;
}

function lineOf(row) {
  const button = element("button", { type: "button", className: "opens mono", textContent: row.name });
  button.setAttribute("aria-expanded", row.open);
  button.addEventListener("click", () => toggle(row, button));
  return element("tr", { className: row.open ? "line opened" : "line" },
    element("th", { scope: "row" }, button),
    element("td", { textContent: row.text, className: "asked" }),
    element("td", { textContent: inShort(row, 0), className: "said" }),
    element("td", { textContent: inShort(row, 1), className: "gold" }),
    element("td", {}, element("span", { className: `result ${row.result}`, textContent: RESULTS[row.result] })));
}

function toggle(row, button) {
  row.open = !row.open;
  button.setAttribute("aria-expanded", row.open);
  const line = button.closest("tr");
  line.classList.toggle("opened", row.open);
  if (row.open) line.after(detailOf(row));
  else line.nextElementSibling.remove();
  remember(row.open ? row : undefined);
}

function detailOf(row) {
  const cell = element("td", { colSpan: 5 }, element("p", { className: "question", textContent: row.text }));
  if (row.error) cell.append(element("p", { className: "wrong", textContent: `It cannot run: ${row.error}` }));
  if (row.choices) {
    const lines = row.choices.map(([text, predicted, expected], number) => element("tr",
      { className: isWrong([text, predicted, expected]) ? "wrong" : "" },
      element("th", { scope: "row", textContent: `${number}. ${text}` }),
      element("td", { textContent: holds(predicted) }), element("td", { textContent: holds(expected) ?? "no gold" })));
    const heads = ["choice", "said", "gold"].map(text => element("th", { scope: "col", textContent: text }));
    cell.append(element("table", { className: "choices" },
      element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...lines)));
  } else if (!row.error) {
    const gold = row.expected === null ? "There is no gold." : `The gold is ${row.expected}.`;
    cell.append(element("p", { className: "verdict", textContent: `Answer: ${row.predicted}. ${gold}` }));
  }
  const why = element("div", { className: "why" });
  cell.append(why);
  explain(row, why);
  return element("tr", { className: "detail" }, cell);
}

async function explain(row, why) {
  if (row.shard === null) {
    if (page.command) why.append(element("p", { className: "verdict" }, "Its steps are not on this page. ",
      element("code", { textContent: `substrate explain ${row.name}` }), " prints them."));
    return;
  }
  try {
    if (!explained.has(row.shard)) {
      why.textContent = "Loading its steps.";
      await load(`${page.benchmark}/why-${padded(row.shard)}.js`);
    }
    why.innerHTML = explained.get(row.shard)[row.key];
    // Of a question with choices the steps to those that are not right stand open.
    if (row.choices) why.querySelectorAll(":scope > details").forEach((part, number) => {
      part.open = isWrong(row.choices[number]);
    });
  } catch (error) {
    why.textContent = `Its steps cannot be shown: ${error.message}. `;
    why.append(element("code", { textContent: `substrate explain ${row.name}` }), " prints them.");
  }
}

// What is filtered and opened stands in the address, so that it can be sent on.
function remember(row) {
  const asked = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  if (row) asked.set("answer", row.name);
  try { history.replaceState(null, "", `${location.pathname}${asked.size ? `?${asked}` : ""}`); } catch { /* not from disk, in some browsers */ }
}

function open(key) {
  const row = all.find(found => found.key === key || found.name === key);
  if (!row) return false;
  row.open = true;
  if (!shown.includes(row)) { form.reset(); filter(); }
  first = PER_PAGE * Math.floor(shown.indexOf(row) / PER_PAGE);
  draw();
  const button = [...body.querySelectorAll("button.opens")].find(found => found.textContent === row.name);
  if (button) { button.focus({ preventScroll: true }); button.closest("tr").scrollIntoView(); }
  return true;
}

function turn(by) {
  first += by * PER_PAGE;
  draw();
  form.scrollIntoView();
}

let pause;
function refine() {
  first = 0;
  filter();
  draw();
  remember();
}
form.addEventListener("input", event => {
  clearTimeout(pause);
  if (event.target.type === "search") pause = setTimeout(refine, 120);
  else refine();
});
form.addEventListener("submit", event => event.preventDefault());
previous.addEventListener("click", () => turn(-1));
next.addEventListener("click", () => turn(1));

async function start() {
  const asked = new URLSearchParams(location.search);
  let wanted = asked.get("answer");
  for (const field of form.elements) if (field.name) field.value = asked.get(field.name) ?? "";
  document.getElementById("browser").hidden = false;
  for (loaded = 0; loaded < page.shards;) {
    await load(`${page.benchmark}/rows-${padded(loaded)}.js`);
    loaded += 1;
    filter();
    draw();
    if (wanted && open(wanted)) wanted = null;
  }
  if (wanted) said.textContent += `; none is named ${wanted}`;
}
start().catch(error => { said.textContent = `The answers cannot be shown: ${error.message}.`; });
