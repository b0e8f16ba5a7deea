// The server thread as main runs it, in a real thread.
import { RUNTIME_INIT, STATS_INIT } from "../../support/stats-init.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { ServerThread } from "../../../src/main/threads/server-thread.js";
import { SharedTexts } from "../../../src/main/threads/shared-texts.js";
import { ThreadContext } from "../../../src/main/threads/thread-context.js";
import { systemClock } from "../../../src/shared/clock/clock.js";
import { ThreadRegistry } from "../../../src/shared/metrics/thread-registry.js";
import { threadMetrics } from "../../../src/shared/metrics/threads.js";
import { pod } from "../../support/pods.js";
import { freePort } from "../../support/free-port.js";
import { keptLog } from "../../support/sources-kit.js";

test("a pod that changes while the thread is given the whole set is not left out", async (t) => {
  const { log } = keptLog();
  const context = new ThreadContext(systemClock, log, threadMetrics(new ThreadRegistry("main")), (error) => {
    throw error;
  });
  const late = pod({}, "late");
  const readOnlyPort = await freePort();
  const server: ServerThread = new ServerThread({
    name: "server",
    table: context.common("server"),
    exited: context.exited,
    podTexts: new SharedTexts(),
    init: {
      address: "127.0.0.1",
      readOnlyPort,
      healthzBindAddress: "127.0.0.1",
      healthzPort: 0,
      syncLoopMaxAgeMs: 300_000,
      devicePluginProblem: "",
      nodeName: "node",
      configz: { plain: `{"kubeletconfig":{}}`, withOrigins: `{"kubeletconfig":{},"origins":{}}` },
      runtime: RUNTIME_INIT,
      stats: STATS_INIT,
    },
    upcalls: {
      collectMetrics: () => Promise.resolve([]),
      collectProbeMetrics: () => Promise.resolve([]),
      podDisks: () => Promise.resolve([]),
      timeline: () => Promise.resolve(undefined),
      mirrorUid: () => Promise.resolve(undefined),
      setVerbosity: () => undefined,
      nodeFacts: () => Promise.reject(new Error("not asked")),
      podFacts: () => Promise.resolve(undefined),
      unusedImages: () => Promise.resolve([]),
      events: () => Promise.resolve([]),
      manifests: () => Promise.reject(new Error("not asked")),
    },
    log,
    owner: Promise.resolve({
      pods: () => {
        // The set is taken and on its way: nothing changes ever after this.
        queueMicrotask(() => server.publish({ set: [late], removed: [] }));
        return [];
      },
    }),
  });
  t.after(() => server.stop());
  await server.thread.start();
  await server.thread.call.listening();
  // Answered after the delta, if there is one: calls to a thread keep their order.
  await server.thread.call.metrics();
  const answer = await fetch(`http://127.0.0.1:${readOnlyPort}/pods`);
  const { items } = (await answer.json()) as { items: { metadata: { name: string } }[] };
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ["late"],
  );
});
