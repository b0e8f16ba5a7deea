// The operation codes on the thread board. A thread sets a code during an operation that may take long. So other
// threads can name the operation of a stuck thread.

/** pleg: lists the whole runtime. */
export const PLEG_RELIST = 1;
/** eviction: judges a sample. */
export const EVICTION_LOOK = 1;
/** eviction: removes exited containers or unused images. */
export const EVICTION_RECLAIM = 2;
/** eviction: has the pods' disks measured. */
export const EVICTION_MEASURE = 3;
/** main: hands a change of a pod to its worker. */
export const MAIN_POD_CHANGE = 1;
/** main: handles a record of the pleg thread. */
export const MAIN_PLEG_RECORD = 2;

const NAMES: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  pleg: { [PLEG_RELIST]: "relist" },
  eviction: {
    [EVICTION_LOOK]: "evaluating a sample",
    [EVICTION_RECLAIM]: "removing dead containers and unused images",
    [EVICTION_MEASURE]: "measuring the pods' disks",
  },
  main: { [MAIN_POD_CHANGE]: "dispatching a pod's change", [MAIN_PLEG_RECORD]: "handling a record of pleg" },
};

/** undefined for codes without a meaning; 0 is idle. */
export const opName = (thread: string, op: number): string | undefined => NAMES[thread]?.[op];
