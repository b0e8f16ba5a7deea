// Which threads may end the process: the restart rules that each thread is supervised with.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RestartPolicy } from "../../../src/main/threads/restart-policy.js";
import { spawnWorkerThread } from "../../../src/main/threads/spawn-worker.js";
import { THREADS, ThreadContext, type ThreadName } from "../../../src/main/threads/thread-context.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { ThreadRegistry } from "../../../src/shared/telemetry/metrics/thread-registry.js";
import { threadMetrics } from "../../../src/shared/telemetry/metrics/threads.js";
import { silentLog } from "../../support/silent.js";

const workers = THREADS.filter((name): name is Exclude<ThreadName, "main"> => name !== "main");

describe("restart rules", () => {
  const metrics = threadMetrics(new ThreadRegistry("main"));
  const context = new ThreadContext({
    clock: systemClock,
    log: silentLog,
    metrics,
    spawn: spawnWorkerThread,
    onGiveUp: () => undefined,
  });

  for (const name of workers) {
    test(name === "pleg" ? "pleg is given up after ten restarts" : `${name} is restarted for ever`, () => {
      const policy = new RestartPolicy(context.common(name).restart);
      const decisions = Array.from({ length: 500 }, () => policy.exited(0));
      const restarts = decisions.findIndex(({ restart }) => !restart);
      assert.equal(restarts, name === "pleg" ? 10 : -1);
      for (const decision of decisions) assert.ok(!decision.restart || decision.delayMs <= 10_000);
    });
  }
});
