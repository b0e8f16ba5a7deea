// The server thread as main runs it, in a real thread.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Client } from "../../../src/cli/client.js";
import { ServerThread } from "../../../src/main/threads/server-thread.js";
import { spawnWorkerThread } from "../../../src/main/threads/spawn-worker.js";
import { ThreadContext } from "../../../src/main/threads/thread-context.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { LoopShare } from "../../../src/shared/base/turns/loop-share.js";
import { NO_MANIFESTS } from "../../../src/shared/contracts/manifest-facts.js";
import type { ServerInit } from "../../../src/shared/contracts/server.js";
import type { Pod } from "../../../src/shared/kubernetes/api/pod.js";
import type { Logger } from "../../../src/shared/telemetry/log/logger.js";
import { ThreadRegistry } from "../../../src/shared/telemetry/metrics/thread-registry.js";
import { threadMetrics } from "../../../src/shared/telemetry/metrics/threads.js";
import { waitFor } from "../../../tools/standalone/wait.js";
import { freePort } from "../../support/free-port.js";
import { pod } from "../../support/pods.js";
import { keptLog, temporaryFolder } from "../../support/sources-kit.js";
import { RUNTIME_INIT, STATS_INIT } from "../../support/stats-init.js";
import { HANDLERS } from "../../workers/server/every-port-kit.js";

/** More than the thread's heap; one object of which main has one copy. */
const LARGE_PODS = 210;

test("a pod that changes while the thread is given the whole set is not left out", async (t) => {
  const { log } = keptLog();
  const context = new ThreadContext({
    clock: systemClock,
    log,
    metrics: threadMetrics(new ThreadRegistry("main")),
    spawn: spawnWorkerThread,
    onGiveUp: (error) => {
      throw error;
    },
  });
  const late = pod({}, "late");
  const readOnlyPort = await freePort();
  const server: ServerThread = serverThread(context, log, readOnlyPort, () => {
    // The set is taken and on its way: nothing changes ever after this.
    queueMicrotask(() => server.publish({ set: [late], removed: [] }));
    return [];
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

test("a list of manifests that changes while the thread is given its pods is not lost", async (t) => {
  const dir = await temporaryFolder(t);
  const { log } = keptLog();
  const context = new ThreadContext({
    clock: systemClock,
    log,
    metrics: threadMetrics(new ThreadRegistry("main")),
    spawn: spawnWorkerThread,
    onGiveUp: (error) => {
      throw error;
    },
  });
  const socket = join(dir, "s.sock");
  const server: ServerThread = serverThread(
    context,
    log,
    0,
    () => {
      server.setManifests({ ...NO_MANIFESTS, configured: ["/m"] });
      return [];
    },
    { admin: { socket, group: "", rootDir: dir, handlers: HANDLERS, certificates: [] } },
  );
  t.after(() => server.stop());
  await server.thread.start();
  const client = new Client(socket);
  const opened = (): Promise<boolean> =>
    client.json("/nodelet/manifests").then(
      () => true,
      () => false,
    );
  await waitFor(opened, { what: "the admin socket" });
  assert.deepEqual(await client.json("/nodelet/manifests"), { ...NO_MANIFESTS, configured: ["/m"] });
  server.setManifests(NO_MANIFESTS);
  // Answered after the list: calls to a thread keep their order.
  await server.thread.call.metrics();
  assert.deepEqual(await client.json("/nodelet/manifests"), NO_MANIFESTS);
});

test("pods whose texts exceed the thread's heap do not end it, and all are served", async (t) => {
  const { log, errors } = keptLog();
  const context = new ThreadContext({
    clock: systemClock,
    log,
    metrics: threadMetrics(new ThreadRegistry("main")),
    spawn: spawnWorkerThread,
    onGiveUp: (error) => {
      throw error;
    },
  });
  const value = "a".repeat(1_000_000);
  const pods = Array.from({ length: LARGE_PODS }, (_, at) =>
    pod({ containers: [{ name: "app", env: [{ name: "A", value }] }] }, `p${at}`),
  );
  const readOnlyPort = await freePort();
  const server = serverThread(context, log, readOnlyPort, () => pods);
  t.after(() => server.stop());
  await server.thread.start();
  let bytes = 0;
  // The list itself is large: it is not asked for without a pause.
  while (bytes < LARGE_PODS * value.length) {
    await systemClock.sleep(1000);
    bytes = 0;
    const { body } = await fetch(`http://127.0.0.1:${readOnlyPort}/pods`);
    assert.ok(body !== null);
    for await (const chunk of body) bytes += (chunk as Uint8Array).length;
  }
  assert.deepEqual([server.thread.generation, errors()], [1, []]);
});

function serverThread(
  context: ThreadContext,
  log: Logger,
  readOnlyPort: number,
  pods: () => Pod[],
  init: Partial<ServerInit> = {},
): ServerThread {
  return new ServerThread({
    name: "server",
    table: context.common("server"),
    exited: context.exited,
    podTurns: new LoopShare(systemClock),
    init: {
      address: "127.0.0.1",
      readOnlyPort,
      healthzBindAddress: "127.0.0.1",
      healthzPort: 0,
      syncLoopMaxAgeMs: 300_000,
      devicePluginProblem: "",
      manifests: NO_MANIFESTS,
      nodeName: "node",
      configz: { plain: `{"kubeletconfig":{}}`, withOrigins: `{"kubeletconfig":{},"origins":{}}` },
      runtime: RUNTIME_INIT,
      stats: STATS_INIT,
      ...init,
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
      podStarts: () => Promise.resolve({}),
      allPodFacts: () => Promise.resolve({}),
      restartPod: () => Promise.resolve(undefined),
      unusedImages: () => Promise.resolve([]),
      events: () => Promise.resolve([]),
      manifests: () => Promise.reject(new Error("not asked")),
    },
    clock: systemClock,
    log,
    owner: Promise.resolve({ pods }),
  });
}
