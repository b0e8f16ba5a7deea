// A running container has at most containerLogMaxFiles files of its log. The one being written is below
// containerLogMaxSize, but for what came in the longest time between two looks at it.

import { kernel } from "../kernel/kernel.js";
import { logFilesOf } from "../world/log-files.js";
import type { LogRun } from "../world/log-run.js";
import type { World } from "../world/world.js";
import { isCalm } from "./calm.js";
import type { Broken, Invariant } from "./invariant.js";

/** A container is known, and the last fault is over, after so long. */
const KNOWN_MS = 60_000;
/** Three seconds between two looks at a growing log, and their calls. */
const LOOK_MS = 4500;
const EVERY_MS = 2000;

export const logsStaySmall: Invariant = {
  name: "logs of containers stay small",
  promisedBy: "docs/adr/0018-container-logs.md",
  watch(world, broken) {
    const { logs, node } = world;
    if (logs === undefined || node.logs === undefined) return undefined;
    const { files, size } = node.logs;
    logs.onCreated.add((run) => {
      const names = logFilesOf(run).map(({ name }) => name);
      if (!run.isTorn && names.length > files) broken(`${run.container} has ${names.join(" ")}`, run.pod);
    });
    const look = (): void => {
      if (isCalm(world, KNOWN_MS)) for (const run of logs.known()) checkSize(world, run, size, broken);
      kernel.after(kernel.world, EVERY_MS, look);
    };
    kernel.after(kernel.world, EVERY_MS, look);
    return undefined;
  },
};

function checkSize({ facts }: World, run: LogRun, size: number, broken: Broken): void {
  if (run.endedAt !== undefined || kernel.monotonic - run.startedAt < KNOWN_MS) return;
  if (facts.pods.get(run.pod)?.deletedAt !== undefined) return;
  const has = run.inode?.data.length ?? 0;
  const most = size + run.bytesSince(kernel.monotonic - LOOK_MS);
  if (has > most) broken(`the log of ${run.container} has ${has} bytes, ${has - most} too many`, run.pod);
}
