// The command: seeds one after the other, progress, and a report of the first broken promise.

import { readFile } from "node:fs/promises";
import { CodeTable } from "../coverage/code-table.js";
import { MUTANTS } from "../mutants/all.js";
import { isAim, type Aim, type FaultKind } from "../plan/events.js";
import { RACES } from "../races/all.js";
import { RACE_HOURS, type Race } from "../races/race.js";
import { bundleSimulation, removeBundle } from "./bundle.js";
import type { RunOrder, RunResult } from "./order.js";
import { ReachedTable } from "./reached-table.js";
import { runSeed } from "./run-seed.js";
import { shrink } from "./shrink.js";
import { tryMutants } from "./try-mutants.js";

export interface SimulateOptions {
  seed: number | undefined;
  /** Each seed after the first aims at what none has reached. */
  steered: boolean;
  count: number;
  minutes: number | undefined;
  hours: number;
  pods: number;
  faults: readonly FaultKind[];
  events: readonly number[] | undefined;
  /** Faults that are wanted during calls; absent: those that no seed before has reached. */
  aims: readonly Aim[] | undefined;
  /** Name of a race, or "all". */
  race: string | undefined;
  trace: boolean;
  /** Reports how much of the agent's code the seeds have reached, and steers by it. */
  code: boolean;
  mutants: boolean;
  /** A part of the names of the mutants to try; empty: all. */
  mutant: string;
}

/** Runs for one report; and the minutes of a command that has `--minutes`. */
const MOST_SHRINKS = 40;
const SHRINK_MINUTES = 1;
/** Missing pairs of fault and call that one seed aims at, in each of its rounds. */
const AIMS = 6;
/** Aims of the last seed that reached new code, which are tried again at other moments: a part of these. */
const AIMS_AGAIN = 2;
const MOST_SEED = 2 ** 31 - 1;
const TIMELINE_LINES = 60;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Returns the status of the process. */
export async function simulate(options: SimulateOptions): Promise<number> {
  const mistake = mistakeIn(options);
  if (mistake !== undefined) {
    process.stderr.write(`nodelet: ${mistake}\n`);
    return 2;
  }
  if (options.mutants) return tryMutants(options, say);
  const races = RACES.filter(({ name }) => options.race === "all" || options.race === name);
  const bundle = await bundleSimulation();
  try {
    return races.length > 0 ? await runRaces(bundle, races, options) : await runSeeds(bundle, options);
  } finally {
    await removeBundle(bundle);
  }
}

/** Names that only the compiled sources know. */
function mistakeIn({ race, aims = [], mutant }: SimulateOptions): string | undefined {
  if (!MUTANTS.some(({ name }) => name.includes(mutant)))
    return `--mutant: no fault of test/simulation/mutants has "${mutant}" in its name`;

  const names = [...RACES.map(({ name }) => name), "all"];
  if (race !== undefined && !names.includes(race)) return `--race must be one of ${names.join(", ")}, not "${race}"`;
  const wrong = aims.find((aim) => !isAim(aim));
  return wrong === undefined ? undefined : `--aims must be like kill:StartContainer, not "${wrong}"`;
}

/** Each race with the same seeds. */
async function runRaces(
  bundle: string,
  races: readonly Race[],
  { seed = 1, count, trace }: SimulateOptions,
): Promise<number> {
  for (const { name, promise } of races) {
    for (let index = 0; index < count; index++) {
      const order: RunOrder = { seed: seed + index, hours: RACE_HOURS, pods: 1, faults: [], race: name, prints: trace };
      const { violation, timeline } = await runSeed(bundle, order, say);
      say(`${name}, seed ${order.seed}: ${violation === undefined ? promise : `broken: ${violation.what}`}`);
      if (violation === undefined) continue;
      for (const line of timeline) say(`  ${line.slice(0, 400)}`);
      return 1;
    }
  }
  return 0;
}

async function runSeeds(bundle: string, options: SimulateOptions): Promise<number> {
  const { hours, pods, faults, events } = options;
  const isSteered = options.steered && options.aims === undefined;
  const first = options.seed ?? Math.floor(Math.random() * MOST_SEED);
  const began = performance.now();
  const deadline = options.minutes === undefined ? undefined : began + options.minutes * 60_000;
  const reached = new ReachedTable();
  const code = options.code ? new CodeTable(await readFile(bundle, "utf8")) : undefined;
  /** Aims of the last seed that reached new code. */
  let lucky: readonly Aim[] = [];
  let simulatedMs = 0;
  for (let index = 0; deadline === undefined ? index < options.count : performance.now() < deadline; index++) {
    const missing = reached.aims(faults, AIMS - lucky.length, index);
    const aims = isSteered && index > 0 ? [...lucky, ...missing] : options.aims;
    const seed = (first + index) % MOST_SEED;
    const order: RunOrder = { seed, hours, pods, faults, only: events, aims, code: options.code };
    if (options.trace) {
      const { hash } = await runSeed(bundle, { ...order, prints: true }, say);
      say(`hash ${hash}`);
      return 0;
    }
    const result = await runSeed(bundle, order);
    simulatedMs += result.simulatedMs;
    reached.add(result.reached);
    const fresh = code?.add(result.code ?? []) ?? 0;
    if (fresh > 0) lucky = aims?.slice(-AIMS_AGAIN) ?? [];
    const hoursDone = result.simulatedMs / 3_600_000;
    const seconds = result.cpuMs / 1000;
    say(
      `seed ${order.seed}: ${hoursDone.toFixed(2)} h in ${seconds.toFixed(0)} s of processor time ` +
        `(${(result.simulatedMs / result.cpuMs).toFixed(0)} simulated seconds a second, ${result.steps} steps), ${result.hash.slice(0, 16)}` +
        (code === undefined ? "" : `, ${fresh} new lines of code`),
    );
    if (result.violation !== undefined) {
      await report(
        bundle,
        order,
        result,
        deadline === undefined ? Infinity : performance.now() + SHRINK_MINUTES * 60_000,
      );
      return 1;
    }
  }
  for (const line of [...reached.lines(faults), ...(code?.lines() ?? [])]) say(line);
  const seconds = (performance.now() - began) / 1000;
  say(`no promise was broken in ${(simulatedMs / 3_600_000).toFixed(1)} simulated hours (${seconds.toFixed(0)} s)`);
  return 0;
}

/** `until`: the search for a shorter list ends then. */
async function report(
  bundle: string,
  order: RunOrder,
  { violation, events, timeline }: RunResult,
  until: number,
): Promise<void> {
  if (violation === undefined) return;
  say(`\nbroken: ${violation.invariant}`);
  say(`  ${violation.what}`);
  say(`  seed ${order.seed}, step ${violation.step}, ${(violation.atMs / 1000).toFixed(3)} s of simulated time`);
  const breaks = async (only: readonly number[]): Promise<boolean> => {
    const again = await runSeed(bundle, { ...order, hours: hoursFor(violation.atMs), only });
    return again.violation?.invariant === violation.invariant;
  };
  const atMost = until === Infinity ? `${MOST_SHRINKS} runs` : `${MOST_SHRINKS} runs in a minute`;
  say(`\nlooking for a shorter list of events (at most ${atMost})`);
  const shortest = await shrink(order.only ?? events, breaks, { runs: MOST_SHRINKS, until });
  const { hours, pods, faults, aims = [] } = order;
  const aimed = aims.length === 0 ? "" : ` --aims ${aims.join(",")}`;
  const words = `--seed ${order.seed} --hours ${hours} --pods ${pods} --faults ${faults.join(",") || "none"}${aimed}`;
  say(`npm run simulate -- ${words} --events ${shortest.join(",")}`);
  const last = await runSeed(bundle, { ...order, only: shortest });
  say(`\ntimeline${violation.pod === undefined ? "" : ` of ${violation.pod}`}:`);
  const lines = last.violation === undefined ? timeline : last.timeline;
  for (const line of lines.slice(-TIMELINE_LINES)) say(`  ${line.slice(0, 400)}`);
}

function hoursFor(ms: number): number {
  return Math.ceil(ms / 60_000 + 1) / 60;
}
