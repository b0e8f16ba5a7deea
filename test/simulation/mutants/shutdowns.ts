// Faults in the end of pods at a shutdown of the machine.

import type { Mutant } from "../driver/mutant.js";

const SHUTDOWN = "src/main/node/shutdown";

export const SHUTDOWN_MUTANTS: readonly Mutant[] = [
  {
    name: "pods get their own grace period at a shutdown",
    file: `${SHUTDOWN}/end-groups.ts`,
    text: "Math.min(pod.spec.terminationGracePeriodSeconds ?? Infinity, group.seconds)",
    replacement: "pod.spec.terminationGracePeriodSeconds ?? group.seconds",
  },
  {
    name: "important pods end first at a shutdown",
    file: `${SHUTDOWN}/end-groups.ts`,
    text: "for (const group of groups) {",
    replacement: "for (const group of [...groups].reverse()) {",
  },
  {
    name: "a shutdown does not wait for its groups",
    file: `${SHUTDOWN}/end-groups.ts`,
    text: "if (members.length > 0) await endGroup(",
    replacement: "if (members.length > 0) void endGroup(",
  },
  {
    name: "no lock is taken after a shutdown that was cancelled",
    file: `${SHUTDOWN}/shutdown-manager.ts`,
    text: "void this.retryLock();",
    replacement: "",
  },
  {
    name: "groups go on after a shutdown was cancelled",
    file: `${SHUTDOWN}/shutdown-manager.ts`,
    text: 'before?.abort.abort(new Error("the shutdown was cancelled"));',
    replacement: "void before;",
  },
  {
    name: "a shutdown before the start is not asked for",
    file: `${SHUTDOWN}/shutdown-manager.ts`,
    text: "const preparing = await logind.preparing();",
    replacement: "const preparing = this.shuttingDown && (await logind.preparing());",
  },
  {
    name: "pods are admitted during a shutdown",
    file: "src/main/kubelet/node-shutdown.ts",
    text: "shutdown.shuttingDown = shuttingDown;",
    replacement: "shutdown.shuttingDown &&= shuttingDown;",
  },
  {
    name: "the node stays ready during a shutdown",
    file: "src/main/kubelet/node-shutdown.ts",
    text: "setShuttingDown(shuttingDown)",
    replacement: "setShuttingDown(shuttingDown && false)",
  },
  {
    name: "a lock that is refused is not requested again",
    file: `${SHUTDOWN}/shutdown-manager.ts`,
    text: "while (this.lock === undefined && !this.isStopped())",
    replacement: "while (this.lock === undefined && this.isStopped())",
  },
  {
    name: "a group takes all of its time",
    file: `${SHUTDOWN}/end-groups.ts`,
    text: "inTime(Promise.all(ends),",
    replacement: "inTime(Promise.all([...ends, new Promise(() => undefined)]),",
  },
  {
    name: "a shutdown does not wait for statuses",
    file: `${SHUTDOWN}/reported-end.ts`,
    text: "const TRIES = 20;",
    replacement: "const TRIES = 0;",
  },
];
