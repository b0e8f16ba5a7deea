// The kubelet holds a lock that delays a shutdown for as long as its pods need, at most for their periods. It gives the
// lock back when they have ended, and takes it again after a shutdown that was cancelled.

import { kernel } from "../kernel/kernel.js";
import type { Shutdown } from "../world/shutdowns.js";
import type { Invariant } from "./invariant.js";
import { watchEnds } from "./shutdown-ends.js";

/** The lock is given back so long after the last pod has ended, or its time is over. */
const LATE_MS = 5000;
/** It is taken again. */
const AGAIN_MS = 15_000;

export const shutdownsWait: Invariant = {
  name: "a shutdown waits for the pods, and no longer",
  promisedBy: "docs/adr/0034-shutdown.md",
  watch(world, broken) {
    const { shutdowns, node } = world;
    if (shutdowns === undefined) return undefined;
    const { logind } = shutdowns;
    const current = watchEnds(world);
    const neededMs = 1000 * (node.shutdown ?? []).reduce((sum, { seconds }) => sum + seconds, 0);
    const checkLock = (when: string): void => {
      if (logind.locks.size !== 1) broken(`the kubelet holds ${logind.locks.size} locks ${when}`);
      if (logind.delayMs < neededMs) broken(`logind delays a shutdown for ${logind.delayMs} ms ${when}`);
    };
    const checkEnd = ({ beganAt, wentAt = kernel.monotonic }: Shutdown): void => {
      const ends = current();
      if (ends === undefined) return;
      const took = Math.round(wentAt - beganAt);
      if (took > neededMs + LATE_MS) broken(`the shutdown was delayed for ${took} ms, and ${neededMs} are configured`);
      const runs = [...world.facts.pods.keys()].some((name) => ends.runs(name));
      const idleMs = Math.round(wentAt - Math.max(beganAt, ...ends.endedAt.values()));
      if (!runs && idleMs > LATE_MS) broken(`the shutdown was delayed for ${idleMs} ms after the last pod had ended`);
      for (const [name, { group }] of ends.pods)
        if (ends.isWanted(name) && ends.runs(name) && !ends.isOutOfTime(group))
          broken("the machine goes off while a container of the pod runs, which has time left", name);
    };
    shutdowns.onBegin.add(({ isCalm }) => {
      if (isCalm) checkLock("as a shutdown begins");
    });
    shutdowns.onOff.add(checkEnd);
    shutdowns.onCancel.add((shutdown) => {
      kernel.after(kernel.world, AGAIN_MS, () => {
        if (shutdown.isCalm && shutdowns.last === shutdown) checkLock("after a shutdown that was cancelled");
      });
    });
    return () => {
      if (!logind.preparing) checkLock("at the end of a round");
    };
  },
};
