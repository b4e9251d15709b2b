// A hundred branches of one triple in DataScript, each made and asked: a peer of `substrate bench worlds`.
//
//     npm install datascript
//     node benchmarks/worlds_datascript.js STATE.nt     (a state as N-Triples: `substrate log state LOG`)
const fs = require("fs");
const d = require("datascript");

const ids = new Map();
const id = (term) => ids.get(term) || (ids.set(term, ids.size + 1), ids.size);
const many = { ":db/cardinality": ":db.cardinality/many" };
const triples = fs.readFileSync(process.argv[2], "utf8").split("\n").filter(Boolean)
  .map((line) => line.slice(0, -2).split(" ")).map(([s, p, ...o]) => [s, p, o.join(" ")]);
const schema = Object.fromEntries([...triples.map(([, p]) => p), "knows"].map((p) => [p, many]));
const parent = d.db_with(d.empty_db(schema), triples.map(([s, p, o]) => [":db/add", id(s), p, o]));
const agents = Array.from({ length: 100 }, (_, n) => id(`<urn:village:agent${n}>`));
const asked = `[:find ?o :where [${agents[1]} "knows" ?o]]`;

function worlds() {
  return agents
    .map((agent, n) => d.db_with(parent, [[":db/add", agent, "knows", `thing${n}`]]))
    .filter((branch) => d.q(asked, branch).length > 0).length;
}

if (worlds() !== 1) throw new Error("one branch of a hundred has what is asked for");
for (let round = 0; round < 30; round++) worlds(); // until the code is compiled
const times = Array.from({ length: 9 }, () => {
  const start = process.cpuUsage();
  worlds();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}).sort((a, b) => a - b);
process.stdout.write(`${triples.length} triples: 100 branches made and asked ${times[4].toFixed(1)} ms\n`);
