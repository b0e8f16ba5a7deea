// Errors of each kind that no caller catches, in main and in the worker threads, beside a pod with probes.
// @promise Failures: Uncaught errors in timers, callbacks and promises: main, server and secure-server continue, other
//   threads restart alone; a pod with probes stays Ready, 0 restarts.
// @with test/shared/thread/uncaught.test.ts
// @promise Failures: An error in a handler (of CRI replies and events, plugin registrations, replies and streams, API
//   watches, HTTP requests, upgrades, WebSocket messages and HTTP/2, inotify, ring records, thread messages, a
//   program's exit) terminates only the unit it belongs to; a pod with probes stays Ready, 0 restarts.
// @with test/faults/uncaught-cluster.test.ts, test/workers/server/streams/remote-command.test.ts,
//   test/workers/pleg/pleg.test.ts, test/shared/base/faults/fault-points.test.ts, test/main/threads/supervisor.test.ts

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { isHealthy } from "../../tools/standalone/pods.js";
import { PATIENCE } from "../../tools/standalone/wait.js";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { fakeNode } from "../support/fake-runtime-node.js";
import { agentLog, identities, metric, PATIENCE_MS } from "../support/fault-node.js";
import {
  isThreadExit,
  orderFault,
  SENDER,
  THREAD_RUNS,
  throwInHandler,
  type HandlerFault,
} from "../support/fault-orders.js";
import {
  credentialProvider,
  devicePlugin,
  execCat,
  execTrue,
  followLog,
  http2Healthz,
  isReady,
  ok,
  PROBED,
  pullWithProvider,
  scrape,
  shortPod,
} from "../support/handler-exercises.js";
import { waitSecure } from "../support/secure-ask.js";
import { manifest, shell } from "../support/static-pods.js";

const FAULTS = ["throw-timer", "throw-tick", "reject"] as const;
const PROBE = { exec: { command: ["true"] }, periodSeconds: 1, timeoutSeconds: 30 };
const TALKER = "trap 'exit 0' TERM; while true; do echo said; sleep 1 & wait $!; done";
const POD = manifest(PROBED, [shell("c0", TALKER, { readinessProbe: PROBE, livenessProbe: PROBE })]);

const PROVIDER_DIR = await mkdtemp(join(tmpdir(), "nodelet-uncaught-"));

const HANDLERS: HandlerFault[] = [
  { point: "cri-reply", thread: "main", exercise: shortPod },
  { point: "cri-reply", thread: "pleg" },
  { point: "cri-reply", thread: "prober" },
  { point: "cri-reply", thread: "secure-server", exercise: (node) => ok(node, "/runningpods/") },
  { point: "plugin-watch", thread: "main", exercise: devicePlugin },
  { point: "plugin-registration", thread: "main", exercise: devicePlugin },
  { point: "plugin-reply", thread: "main", exercise: devicePlugin },
  { point: "plugin-stream", thread: "main", exercise: devicePlugin },
  { point: "child-exit", thread: "main", exercise: pullWithProvider(PROVIDER_DIR) },
  { point: "inotify", thread: "main", exercise: shortPod },
  { point: "ring-record", thread: "main", exercise: shortPod, ends: "pleg" },
  { point: "ring-record", thread: "pleg", exercise: shortPod, ends: "pleg" },
  { point: "thread-message", thread: "main", exercise: scrape, ends: SENDER },
  { point: "thread-message", thread: "pleg", exercise: scrape, ends: "pleg" },
  { point: "thread-message", thread: "prober", exercise: scrape, ends: "prober" },
  { point: "thread-message", thread: "server", exercise: scrape, ends: "server" },
  { point: "http-request", thread: "secure-server", exercise: (node) => ok(node, "/healthz") },
  { point: "http-route", thread: "secure-server", exercise: (node) => ok(node, "/healthz") },
  { point: "thread-message", thread: "secure-server", exercise: scrape, ends: "secure-server" },
  { point: "http-upgrade", thread: "secure-server", exercise: execTrue },
  { point: "websocket-message", thread: "secure-server", exercise: execCat },
  { point: "runtime-data", thread: "secure-server", exercise: execCat },
  { point: "inotify", thread: "secure-server", exercise: followLog },
  { point: "http2-session", thread: "secure-server", exercise: http2Healthz },
  { point: "http2-request", thread: "secure-server", exercise: http2Healthz },
];

describe("an error that no caller catches", () => {
  let node: TestNode;
  let calm: Record<string, string>;
  let pid: number | undefined;

  before(async () => {
    node = await startNode({
      secure: true,
      env: { NODELET_FAULTS: "1" },
      flags: await credentialProvider(PROVIDER_DIR),
    });
    await node.writeManifest(PROBED, POD);
    const pods = await node.waitFor((seen) => isReady(seen), {
      what: "the pod to be Ready",
      timeoutMs: PATIENCE_MS,
    });
    calm = identities(pods, [PROBED]);
    pid = node.kubelet.pid;
    await waitSecure(node);
  });
  after(async () => {
    await node.stop();
    await rm(PROVIDER_DIR, { recursive: true });
  });

  for (const thread of ["main", "server", "secure-server"]) {
    for (const fault of FAULTS) {
      test(`${thread}: ${fault}: the thread outlives it`, { timeout: 2 * PATIENCE_MS * PATIENCE }, async () => {
        const logged = (await agentLog(node)).length;
        const counted = await uncaught(thread);
        await orderFault(node, `${fault} ${thread}`);
        await waitFor(async () => (await uncaught(thread)) > counted, {
          what: "the error to be counted",
          timeoutMs: PATIENCE_MS,
        });
        const since = await waitFor(
          async () => {
            const lines = (await agentLog(node)).slice(logged);
            const words = "uncaught error, the thread continues: OrderedFaultError";
            return lines.some(({ msg }) => msg.startsWith(words)) ? lines : undefined;
          },
          { what: "the error to be logged", timeoutMs: PATIENCE_MS },
        );
        assert.deepEqual(since.filter(isThreadExit), []);
        await untouched();
      });
    }
  }

  for (const thread of ["pleg", "prober", "image-gc"]) {
    for (const fault of FAULTS) {
      test(`${thread}: ${fault}: only this thread starts over`, { timeout: 2 * PATIENCE_MS * PATIENCE }, async () => {
        const logged = (await agentLog(node)).length;
        await orderFault(node, `${fault} ${thread}`);
        await waitFor(
          async () =>
            (await agentLog(node)).slice(logged).some(({ msg, thread: of }) => msg === THREAD_RUNS && of === thread),
          { what: "the thread to run again", timeoutMs: PATIENCE_MS },
        );
        const exits = (await agentLog(node)).slice(logged).filter(isThreadExit);
        assert.deepEqual(
          exits.map(({ thread: of, cause }) => [of, cause]),
          [[thread, "uncaught"]],
        );
        await untouched();
      });
    }
  }

  for (const fault of HANDLERS) {
    const { point, thread, ends } = fault;
    const reach = ends === undefined ? "no thread ends" : `only ${ends} starts over`;
    test(`${thread}: ${point}: ${reach}`, { timeout: 2 * PATIENCE_MS * PATIENCE }, async () => {
      await throwInHandler(node, fault);
      await untouched();
    });
  }

  async function untouched(): Promise<void> {
    const pods = await node.pods();
    assert.ok(isReady(pods));
    assert.deepEqual(identities(pods, [PROBED]), calm);
    assert.equal(node.kubelet.pid, pid);
    assert.ok(await isHealthy(node.kubelet.healthzUrl));
  }

  async function uncaught(thread: string): Promise<number> {
    const name = "nodelet_uncaught_errors_total";
    const origins = await Promise.all(
      ["exception", "rejection"].map((origin) => metric(node, name, { thread, origin })),
    );
    return origins.reduce((sum, count) => sum + count, 0);
  }
});

test("pleg: cri-stream: no thread ends; the stream of events is followed again", async (t) => {
  const config = { featureGates: { EventedPLEG: true } };
  const { fake, node } = await fakeNode(t, config, { events: true }, { NODELET_FAULTS: "1" });
  await node.restart();
  const opened = (): number => fake.calls.filter(({ verb }) => verb === "GetContainerEvents").length;
  await waitFor(() => opened() > 0, { what: "the stream to be open", timeoutMs: PATIENCE_MS });
  const before = opened();
  await throwInHandler(node, { point: "cri-stream", thread: "pleg", exercise: shortPod });
  await waitFor(() => opened() > before, { what: "the stream to be open again", timeoutMs: PATIENCE_MS });
});
