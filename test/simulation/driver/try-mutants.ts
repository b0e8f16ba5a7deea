// `npm run simulate -- --mutants`: puts each fault into the agent, and shows how soon the simulation finds it.

import { MUTANTS } from "../mutants/all.js";
import { FINDERS, type Finder } from "../mutants/finders.js";
import { FAULT_KINDS, type FaultKind } from "../plan/events.js";
import { RACES } from "../races/all.js";
import { RACE_HOURS } from "../races/race.js";
import { bundleSimulation, removeBundle } from "./bundle.js";
import type { Mutant } from "./mutant.js";
import type { RunOrder } from "./order.js";
import { RunFailedError, runSeed } from "./run-seed.js";

export interface MutantRuns {
  /** The first of the seeds. */
  seed?: number | undefined;
  hours: number;
  pods: number;
  faults: readonly FaultKind[];
  /** A part of the names of the mutants to try; empty: all. */
  mutant: string;
}

/** Seeds per mutant. */
const MUTANT_SEEDS = 10;
/**
 * Faults of one seed after the other, all of them last: some promises are watched only without faults, others only
 * while the kubelet's process ends and nothing else happens.
 */
const MUTANT_FAULTS: readonly (readonly FaultKind[])[] = [[], ["process"], ["api"], ["containers", "runtime"]];
/** Simulated hours and most pods of a run that has found a mutant before. */
const FINDER_HOURS = 0.3;
const FINDER_PODS = 8;

/** Each mutant until it is found. Returns the status of the process: 1 if one was not found. */
export async function tryMutants(options: MutantRuns, say: (line: string) => void): Promise<number> {
  const mutants = MUTANTS.filter(({ name }) => name.includes(options.mutant));
  let missed = 0;
  for (const mutant of mutants) {
    const { by, simulatedMs } = await tryMutant(mutant, options);
    if (by === undefined) missed++;
    const after = `${(simulatedMs / 3_600_000).toFixed(2)} h`;
    say(`${mutant.name}: ${by === undefined ? `not found in ${after}` : `found in ${after} by ${by}`}`);
  }
  say(`${mutants.length - missed} of ${mutants.length} mutants were found`);
  return missed === 0 ? 0 : 1;
}

async function tryMutant(mutant: Mutant, options: MutantRuns): Promise<{ by?: string; simulatedMs: number }> {
  const bundle = await bundleSimulation(mutant);
  let simulatedMs = 0;
  try {
    for (const order of ordersFor(mutant, options)) {
      const result = await runSeed(bundle, order);
      simulatedMs += result.simulatedMs;
      const { violation } = result;
      if (violation === undefined) continue;
      const where = order.race === undefined ? `seed ${order.seed}` : `race ${order.race}`;
      return { by: `"${violation.invariant}" (${where})`, simulatedMs };
    }
  } catch (error) {
    if (!(error instanceof RunFailedError)) throw error;
    return { by: "the end of the run", simulatedMs };
  } finally {
    await removeBundle(bundle);
  }
  return { simulatedMs };
}

/** Runs that may find it: the one that has found it before, then seeds, then each race. */
function* ordersFor({ name }: Mutant, { seed = 1, hours, pods, faults }: MutantRuns): Generator<RunOrder> {
  const finder = FINDERS.get(name);
  if (finder !== undefined) yield orderOf(finder);
  const rounds = [...MUTANT_FAULTS, faults];
  for (let index = 0; index < MUTANT_SEEDS; index++)
    yield { seed: seed + index, hours, pods, faults: rounds[index % rounds.length] ?? faults };
  for (const race of RACES) yield orderOf({ race: race.name });
}

function orderOf(finder: Finder): RunOrder {
  if ("race" in finder) return { seed: 1, hours: RACE_HOURS, pods: 1, faults: [], race: finder.race };
  const { seed, faults = [], pods = FINDER_PODS } = finder;
  return { seed, hours: FINDER_HOURS, pods, faults: faults === "all" ? FAULT_KINDS : faults };
}
