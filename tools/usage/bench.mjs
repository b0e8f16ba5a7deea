// The arguments of `npm run bench`, with its table of sections. bench/main.ts has the code of each.

import { accessSync, constants } from "node:fs";
import { CannotStart } from "../build/cannot-start.mjs";
import { nearest, readWords } from "./words.mjs";

/**
 * In the order in which they run.
 *
 * - onlyByName: takes long, or needs more than containerd: runs only when it is named.
 * - comparable: uses only what other kubelets have, too, so that --against can run it with one.
 * - sizes: an environment variable with numbers of pods or nodes, as "30,100".
 */
const SECTIONS = [
  { name: "queue", about: "records between threads, beside a plain MessagePort" },
  {
    name: "startup",
    about: "from exec to --version, --help and the first sandbox",
    comparable: true,
  },
  {
    name: "start",
    about: "manifest put in place → process in the container, one by one and in bursts",
    comparable: true,
  },
  { name: "shape", about: "a pod of 3 init containers, 2 sidecars and 2 app containers", comparable: true },
  { name: "change", about: "a running pod changes: a container ends, a manifest is edited", comparable: true },
  { name: "idle", about: "memory and processor time with 0, 30 and 100 running pods", comparable: true },
  {
    name: "scale",
    about: "250, 500 and 1,000 pods against an in-memory CRI server, and how each cost grows",
    sizes: "NODELET_BENCH_SCALE",
  },
  { name: "probes", about: "600 probes a second while every processor is busy" },
  {
    name: "cluster",
    about: "pods as a client of the API server sees them",
    comparable: true,
    sizes: "NODELET_BENCH_CLUSTER",
  },
  {
    name: "cost",
    about: "calls, requests, system calls and processor time of one pod's start and end",
    comparable: true,
  },
  { name: "channel", about: "processor time of a CRI call over each of the two channels" },
  { name: "streams", about: "the sync path beside 50 followed logs and 20 execs" },
  { name: "eviction", about: "time until a node under pressure evicts" },
  { name: "scrape", about: "metrics pages scraped once a second" },
  { name: "soak", about: "a churn of everything for half an hour", onlyByName: true },
  { name: "profile", about: "a CPU profile and a flame picture of each thread", onlyByName: true },
  { name: "traffic", about: "what a node asks of its API server", onlyByName: true, comparable: true },
  { name: "many", about: "250 and 500 real pods on one node", onlyByName: true, comparable: true },
  {
    name: "fleet",
    about: "50, 100 and 200 kubelets at one API server",
    onlyByName: true,
    comparable: true,
    sizes: "NODELET_BENCH_FLEET",
  },
  { name: "dockershim", about: "pods on a Docker Engine, beside containerd", onlyByName: true },
];

const width = Math.max(...SECTIONS.map(({ name }) => name.length));
const notes = ({ onlyByName, comparable }) =>
  [...(onlyByName ? ["only by name"] : []), ...(comparable ? ["--against"] : [])].join(", ");
const row = (section) => {
  const note = notes(section);
  return `  ${section.name.padEnd(width)}  ${section.about}${note === "" ? "" : ` (${note})`}`;
};

export const LIST = `${SECTIONS.map(row).join("\n")}\n`;

export const HELP = `npm run bench -- [section …] [options]
npm run bench -- list

Measures the kubelet on a private containerd and prints tables. Writes the results below bench/results: the figures as
JSON, the tables as a page, and a picture (SVG). Needs root. Without a section it runs all but those that run only by
name.

  --kubelet <kubelet>  measures this kubelet in place of that of the checkout; for sections marked with --against
  --against <kubelet>  the same sections with another kubelet, too, by turns: an executable, or a .js file for this Node
  --turns <number>     turns of both kubelets together, a multiple of 4 (default 4)

Sections:
${LIST}`;

/** { sections: their names, turns, against?, kubelet? } @throws CannotStart */
export function parseBench(args, env = process.env) {
  const path = { type: "string" };
  const options = { against: path, kubelet: path, turns: { type: "string", default: "4" } };
  const { positionals, values } = readWords("npm run bench", { args, allowPositionals: true, options });
  const names = SECTIONS.map(({ name }) => name);
  const unknown = positionals.filter((section) => !names.includes(section));
  if (unknown.length > 0) {
    const [guess] = unknown.map((word) => nearest(word, names)).filter((name) => name !== undefined);
    const hint = guess === undefined ? "" : ` Did you mean ${guess}?`;
    throw new CannotStart(`unknown section ${unknown.join(", ")}.${hint} npm run bench -- list shows all`);
  }
  const turns = Number(values.turns);
  if (!Number.isInteger(turns) || turns < 4 || turns % 4 !== 0)
    throw new CannotStart(`--turns ${values.turns}: a multiple of 4 is needed, so that both kubelets have equal turns`);
  const wanted = SECTIONS.filter(({ name, onlyByName }) =>
    positionals.length === 0 ? onlyByName !== true : positionals.includes(name),
  );
  const other = wanted.filter(({ comparable }) => comparable !== true).map(({ name }) => name);
  const [foreign] = ["against", "kubelet"].filter((option) => values[option] !== undefined);
  if (foreign !== undefined && other.length > 0) {
    const comparable = SECTIONS.filter((section) => section.comparable === true).map(({ name }) => name);
    throw new CannotStart(
      `--${foreign} cannot run ${other.join(", ")} with another kubelet: name ${comparable.join(", ")}`,
    );
  }
  for (const { sizes } of wanted) checkSizes(sizes, env);
  for (const option of ["against", "kubelet"]) checkKubelet(option, values[option]);
  return { sections: wanted.map(({ name }) => name), turns, against: values.against, kubelet: values.kubelet };
}

function checkSizes(name, env) {
  const value = env[name];
  if (value === undefined || /^[1-9]\d{0,5}(,[1-9]\d{0,5})*$/.test(value)) return;
  throw new CannotStart(`${name}=${value}: whole numbers with commas are needed, for example 30,100`);
}

/** An executable, or a .js file, which runs on this Node. */
function checkKubelet(option, path) {
  if (path === undefined) return;
  try {
    accessSync(path, path.endsWith(".js") ? constants.R_OK : constants.X_OK);
  } catch (error) {
    const reason = error.code === "ENOENT" ? "there is no such file" : `it cannot be run (${error.code})`;
    throw new CannotStart(`--${option} ${path}: ${reason}`);
  }
}
