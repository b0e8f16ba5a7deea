// The arguments of `npm run simulate`.

import { execFileSync } from "node:child_process";
import { CannotStart } from "../build/cannot-start.mjs";
import { readWords } from "./words.mjs";

const COMMAND = "npm run simulate";
/** As FAULT_KINDS of test/simulation/plan/events.ts; a test compares them. */
export const FAULTS = [
  "process",
  "machine",
  "runtime",
  "api",
  "disk",
  "clock",
  "threads",
  "stalls",
  "containers",
  "upgrade",
];
const MOST_SEED = 2 ** 31 - 1;

export const HELP = `npm run simulate -- [option …]

Runs the whole agent on a simulated node, with faults, and checks its promises. The same seed gives the same trace.

  --seed N        the seed; default: a new one. "commit": that of the present commit, which CI has
  --count C       so many seeds, from N on (default 1)
  --minutes M     go on with new seeds for M minutes, in place of --count
  --hours H       simulated hours of each seed (default 1)
  --pods P        most pods at a time (default 12)
  --faults KIND,… of ${FAULTS.join(", ")};
                  or none; default all
  --trace         prints the trace of the first seed, and nothing else
  --events 1,5,…  only these events of the plan: as a report prints them
  --aims F:CALL,… faults of these names during these calls, as a report prints them
  --race NAME     a race of test/simulation/races, as its issue reports it; all: each of them
  --code          reports how much of the agent's code the seeds have reached, and steers by it
  --mutants       puts each fault of test/simulation/mutants into the agent and shows how soon it is found
  --mutant TEXT   only the faults that have the text in their name

Status 1: a promise was broken. Status 2: the words are wrong. docs/simulation.md has more.
`;

/** @throws CannotStart */
export function readSimulateWords(words) {
  const text = { type: "string" };
  const flag = { type: "boolean", default: false };
  const options = {
    seed: text,
    count: text,
    minutes: text,
    hours: text,
    pods: text,
    faults: text,
    events: text,
    race: text,
    aims: text,
    mutant: text,
  };
  const { values } = readWords(COMMAND, {
    args: words,
    options: { ...options, trace: flag, code: flag, mutants: flag },
  });
  refuseTogether(values);
  return {
    seed: values.seed === "commit" ? seedOfCommit() : whole(values.seed, "--seed", 0, MOST_SEED),
    // One seed that is given is repeated as it was.
    steered: values.seed === undefined || values.seed === "commit",
    count: whole(values.count, "--count", 1, 1_000_000) ?? 1,
    minutes: whole(values.minutes, "--minutes", 1, 100_000),
    hours: positive(values.hours, "--hours") ?? 1,
    pods: whole(values.pods, "--pods", 1, 200) ?? 12,
    faults: faultsOf(values.faults),
    events: values.events?.split(",").map((number) => whole(number, "--events", 1, MOST_SEED)),
    aims: values.aims?.split(","),
    race: values.race,
    trace: values.trace,
    code: values.code,
    mutants: values.mutants || values.mutant !== undefined,
    mutant: values.mutant ?? "",
  };
}

/** Pairs of options of which one would have no effect. */
const NOT_TOGETHER = [
  ["count", "minutes"],
  ...["minutes", "events", "aims", "code", "hours", "pods", "faults"].map((name) => ["race", name]),
  ...["count", "minutes", "events", "aims", "code", "race", "trace"].flatMap((name) => [
    ["mutants", name],
    ["mutant", name],
  ]),
];

function refuseTogether(values) {
  for (const [one, other] of NOT_TOGETHER) {
    if (!isGiven(values[one]) || !isGiven(values[other])) continue;
    throw new CannotStart(`--${one} and --${other} do not go together (${COMMAND} -- --help)`);
  }
}

function isGiven(value) {
  return value !== undefined && value !== false;
}

/** Each commit has its seed, so that a finding of CI can be repeated before and after it lands. */
function seedOfCommit() {
  let hash;
  try {
    const options = { cwd: import.meta.dirname, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] };
    hash = execFileSync("git", ["rev-parse", "HEAD"], options);
  } catch (error) {
    const [problem] = String(error.stderr || error.message).split("\n");
    throw new CannotStart(`--seed commit: git names no commit: ${problem}`);
  }
  return Number.parseInt(hash.slice(0, 8), 16) % MOST_SEED;
}

function whole(value, name, least, most) {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= least && number <= most) return number;
  throw new CannotStart(
    `${name} must be a whole number from ${least} to ${most}, not "${value}" (${COMMAND} -- --help)`,
  );
}

function positive(value, name) {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (/^\d+(\.\d+)?$/.test(value) && number > 0 && number <= 10_000) return number;
  throw new CannotStart(
    `${name} must be a number of hours above 0 and up to 10000, not "${value}" (${COMMAND} -- --help)`,
  );
}

function faultsOf(value) {
  if (value === undefined) return FAULTS;
  if (value === "none") return [];
  const kinds = value.split(",");
  const unknown = kinds.find((kind) => !FAULTS.includes(kind));
  if (unknown === undefined) return kinds;
  throw new CannotStart(
    `--faults: there is no fault "${unknown}"; there are ${FAULTS.join(", ")} (${COMMAND} -- --help)`,
  );
}
