// Flags of V8 for the whole process beyond those of the entry point's first line. V8 accepts a code cache only under
// the flags of its creation. This also holds for the cache of Node's own modules, a part of the node executable. Under
// other flags each thread compiles Node's modules again (docs/adr/0070). So flags that V8 compares are set only while
// no code is loaded.
// Invariant: while a thread starts, the flags that V8 compares have V8's defaults.

import { setFlagsFromString } from "node:v8";

/** MiB of a worker thread's young generation: two semi-spaces of 1 MiB, and 1 MiB for large new objects. */
export const YOUNG_GENERATION_MIB = 3;

const FROM_THE_START = [
  /*
   * No threads help to collect young garbage: each has its own half-empty pages. After 150 pods the process holds
   * less for the same processor time: 26 MiB on Node 20, 9 MiB on Node 24 (docs/adr/0067).
   */
  "--no-parallel-scavenge",
  // Main's heap has its size from the first line of the entry point. Node 20 and 22 compare the flag, and it counts
  // more than a Worker's limit.
  "--max-semi-space-size=0",
];

interface RestFlag {
  rest: string;
  /** V8's default. */
  load: string;
}

/**
 * Code that was not run between two collections of the whole heap is dropped by the second; it is compiled again if it
 * is needed. V8 waits for six, which an idle thread never makes, so that the code of the start stayed for ever
 * (docs/adr/0070). Machine code of V8's baseline compiler is not dropped. With --flush-baseline-code beside it, Node 24
 * frees code that runs, and the process dies.
 */
const FORGET_UNUSED_CODE: readonly RestFlag[] = [{ rest: "--bytecode-old-age=1", load: "--bytecode-old-age=6" }];
/**
 * Without V8's middle compiler, which is off in Node 22. The process would keep 28 MiB that it allocates to compile the
 * code of a burst (docs/adr/0057).
 */
const NO_MIDDLE_COMPILER: readonly RestFlag[] = [{ rest: "--no-maglev", load: "--maglev" }];
/**
 * Without V8's optimizing compiler. It costs more than it saves until a burst of pods has lasted for a minute
 * (docs/adr/0120).
 */
const NO_OPTIMIZER: RestFlag = { rest: "--no-turbofan", load: "--turbofan" };
/** Node 22 has V8 12, Node 24 has V8 13. */
const FIRST_V8_THAT_FORGETS = 12;
const FIRST_V8_WITH_MIDDLE_COMPILER = 13;

/** For a V8 of that version, as in `process.versions.v8`. */
function restFlags(version: string): RestFlag[] {
  const major = Number.parseInt(version, 10);
  return [
    NO_OPTIMIZER,
    ...(major >= FIRST_V8_THAT_FORGETS ? FORGET_UNUSED_CODE : []),
    ...(major >= FIRST_V8_WITH_MIDDLE_COMPILER ? NO_MIDDLE_COMPILER : []),
  ];
}

/** Call before the first thread starts. */
export function setV8Flags(): void {
  for (const flag of FROM_THE_START) setFlagsFromString(flag);
}

/** The flags of a kubelet that has started; with false, of one that starts. `busy`: it has much to do for long. */
export function setRestFlags(atRest: boolean, busy = false): void {
  for (const flag of restFlags(process.versions.v8)) {
    const { rest, load } = flag;
    setFlagsFromString(atRest && !(busy && flag === NO_OPTIMIZER) ? rest : load);
  }
}

/** Which code is being loaded: the flags of a kubelet at rest are set when there is none. */
export class CodeLoads {
  private count = 0;
  private busy = false;

  constructor(private readonly set: (atRest: boolean, busy: boolean) => void = setRestFlags) {}

  /** Whether the kubelet has much to do for long: V8 may optimize code then. Chunks loaded meanwhile are compiled. */
  setBusy(busy: boolean): void {
    this.busy = busy;
    if (this.count === 0) this.set(true, busy);
  }

  /** A thread starts, or the kubelet does. The returned function ends it; only its first call counts. */
  begin(): () => void {
    if (this.count++ === 0) this.set(false, this.busy);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      if (--this.count === 0) this.set(true, this.busy);
    };
  }
}
