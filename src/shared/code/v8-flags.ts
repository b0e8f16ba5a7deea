// Flags of V8 for the whole process beyond those of the entry point's first line. Set before any code is loaded: the code cache
// holds for one set of flags.
import { setFlagsFromString } from "node:v8";

/**
 * How much garbage the worker threads' heaps may gather before V8 looks at it: MiB of a semi-space, of which a heap has two. They keep
 * the size of a burst for minutes. Main's heap has its limit already, from the first line of the entry point: a larger
 * one. The flag counts more than a Worker's maxYoungGenerationSizeMb, which is therefore given nowhere.
 */
const SEMI_SPACE_MIB = 1;

/**
 * Without V8's middle compiler, which Node 24 uses and Node 20 and 22 do not: the process keeps 28 MiB that it allocates
 * to compile the code of a burst (docs/adr/0057).
 */
const NO_MIDDLE_COMPILER = "--no-maglev";

/**
 * Without threads that help to collect young garbage: each has pages of its own to copy to, which stay half empty. After 150 pods in bursts
 * the process holds 26 MiB less on Node 20, 9 MiB less on Node 24, for the same processor time (docs/adr/0067).
 */
const NO_HELPERS_FOR_YOUNG_GARBAGE = "--no-parallel-scavenge";

/**
 * Code that was not run between two collections of the whole heap is dropped by the second; it is compiled again if it is needed. V8
 * waits for six, which an idle thread never makes, so that the code of the start stayed for ever (docs/adr/0070).
 */
const FORGET_UNUSED_CODE = ["--bytecode-old-age=1", "--flush-baseline-code"];
/** In Node 22 and later; in Node 20 the age is no flag. */
const FIRST_V8_WITH_AGE = 12;

/** For a V8 of that version, as in `process.versions.v8`. @internal */
export function v8Flags(version: string): string[] {
  return [
    ...(Number.parseInt(version, 10) >= FIRST_V8_WITH_AGE ? FORGET_UNUSED_CODE : []),
    NO_MIDDLE_COMPILER,
    NO_HELPERS_FOR_YOUNG_GARBAGE,
    `--max-semi-space-size=${SEMI_SPACE_MIB}`,
  ];
}

/** Call before the first thread starts. */
export function setV8Flags(): void {
  for (const flag of v8Flags(process.versions.v8)) setFlagsFromString(flag);
}
