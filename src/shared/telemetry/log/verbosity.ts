// klog's V-levels on pino's scale. Info lines are V(0); pino's debug is V(4) and its trace V(6), the rest has a level
// of its own. Invariant: a line of V(n) is written when n is at most the verbosity of its logger.

/** Levels that pino lacks. */
export const EXTRA_LEVELS = { v1: 28, v2: 26, v3: 24, v5: 15, v7: 8, v8: 6, v9: 4, v10: 2 } as const;

/** Name of the pino level of V(n); the index is n. */
const NAMES = ["info", "v1", "v2", "v3", "debug", "v5", "trace", "v7", "v8", "v9", "v10"] as const;
export type VerboseLevel = (typeof NAMES)[number];

export const MAX_VERBOSITY = NAMES.length - 1;
export const WARN_LEVEL = 40;
export const ERROR_LEVEL = 50;
export const FATAL_LEVEL = 60;
/** From here on an error comes with its stack. */
export const STACK_VERBOSITY = 4;

const VERBOSITIES: ReadonlyMap<number, number> = new Map<number, number>([
  ...Object.entries({ info: 30, debug: 20, trace: 10, ...EXTRA_LEVELS }).map(([name, level]): [number, number] => [
    level,
    (NAMES as readonly string[]).indexOf(name),
  ]),
]);

/** The V-level of a pino level number; 0 for warnings and errors, which are always written. */
export function verbosityOfLevel(level: number): number {
  return VERBOSITIES.get(level) ?? 0;
}

/** pino's level name for V(n); above V(10) everything is V(10). */
export function levelOfVerbosity(n: number): VerboseLevel {
  return NAMES[Math.min(Math.max(0, Math.trunc(n)), MAX_VERBOSITY)] ?? "info";
}

/** The verbosity for a level name, e.g. of a logger made in a test. */
export function verbosityOfName(name: string): number {
  return Math.max(0, (NAMES as readonly string[]).indexOf(name));
}
