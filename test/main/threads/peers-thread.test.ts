// The peers thread as main runs it, in a real thread: which probes go to it, and hooks that it runs for main.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { PeersThread } from "../../../src/main/threads/peers-thread.js";
import { ProbeThreads } from "../../../src/main/threads/probe-threads.js";
import { ProberThread } from "../../../src/main/threads/prober-thread.js";
import { spawnWorkerThread } from "../../../src/main/threads/spawn-worker.js";
import { ThreadContext } from "../../../src/main/threads/thread-context.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import type { HttpHook } from "../../../src/shared/contracts/peers.js";
import type { ProbeAction, ProbedPod, ProbeRecord } from "../../../src/shared/contracts/prober.js";
import { podUid, containerIdOf } from "../../../src/shared/kubernetes/identifiers.js";
import { ThreadRegistry } from "../../../src/shared/telemetry/metrics/thread-registry.js";
import { threadMetrics } from "../../../src/shared/telemetry/metrics/threads.js";
import { listen, PATIENCE_MS, USER_AGENT } from "../../support/probe-kit.js";
import { keptLog, until } from "../../support/sources-kit.js";

function threadsOn(t: TestContext) {
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
  const records: ProbeRecord[] = [];
  let pods: ProbedPod[] = [];
  const common = {
    ...{ context, clock: systemClock, log },
    owner: Promise.resolve({ onProbeRecord: (record: ProbeRecord) => records.push(record), probedPods: () => pods }),
  };
  const init = {
    endpoint: "unix:///nowhere",
    runtimeRequestTimeoutMs: 10_000,
    criChannel: "own",
    userAgent: USER_AGENT,
  } as const;
  const prober = new ProberThread({ ...common, init });
  const peers = new PeersThread({ ...common, init: { userAgent: USER_AGENT } });
  const both = new ProbeThreads({ prober, peers });
  t.after(() => Promise.all([prober.stop(), peers.stop()]));
  const set = (pod: ProbedPod): void => {
    pods = [pod];
    both.setPod(pod);
  };
  return { prober, peers, both, records, set };
}

function podWith(...actions: readonly ProbeAction[]): ProbedPod {
  const probes = actions.map((action, at): ProbedPod["probes"][number] => ({
    ...{
      containerId: containerIdOf(`c${at}`),
      kind: "readiness",
      container: `app${at}`,
      generation: 1,
      action,
      startedAt: 0,
    },
    ...{ initialDelayMs: 0, periodMs: 1000, timeoutMs: 10_000, successThreshold: 1, failureThreshold: 1 },
  }));
  return { uid: podUid("u1"), namespace: "default", name: "web", probes };
}

const hookTo = (port: number): HttpHook => ({
  uid: podUid("u1"),
  action: { scheme: "http", host: "127.0.0.1", port, path: "/", headers: [{ name: "X-A", value: "1" }] },
  userAgent: "kube-lifecycle/1.36",
});

test("each probe runs on its own thread; a thread without probes does not start", async (t) => {
  const { prober, peers, both, records, set } = threadsOn(t);
  const port = await listen(
    t,
    createServer((_request, response) => response.end("well")),
  );
  const http: ProbeAction = { type: "http", scheme: "http", host: "127.0.0.1", port, path: "/", headers: [] };
  set(podWith(http));
  await until("the result", () => records.length > 0, PATIENCE_MS);
  assert.deepEqual([records[0]?.outcome, records[0]?.verdict], ["success", "Success"]);
  assert.deepEqual([prober.thread.generation, peers.thread.generation], [0, 1]);
  records.length = 0;
  set(podWith({ type: "tcp", host: "127.0.0.1", port }));
  await until("the result of the other thread", () => records.length > 0, PATIENCE_MS);
  assert.deepEqual([prober.thread.generation, peers.thread.generation], [1, 1]);
  await peers.thread.terminate();
  await until(
    "the next generation",
    () => peers.thread.state === "running" && peers.thread.generation === 2,
    PATIENCE_MS,
  );
  const [snapshot] = await peers.metrics();
  const scheduled = snapshot?.families.find(({ name }) => name === "nodelet_probes_scheduled")?.samples[0]?.value;
  assert.equal(scheduled, 0, "the thread took no other thread's probe");
  both.podRemoved(podUid("u1"));
});

test("a hook is sent by the thread, and a failure of its server is data", async (t) => {
  const { peers } = threadsOn(t);
  const server = createServer((request, response) => response.writeHead(500).end(request.headers["x-a"]));
  const port = await listen(t, server);
  const { signal } = new AbortController();
  assert.deepEqual(await peers.runHook(hookTo(port), signal), { ok: true, fellBack: false });
  const cut = await listen(
    t,
    createTcpServer((socket) => socket.destroy()),
  );
  const reply = await peers.runHook(hookTo(cut), signal);
  assert.ok(!reply.ok && reply.message.startsWith(`Get "http://127.0.0.1:${cut}/": `));
});

test("an aborted hook ends in the thread, too", async (t) => {
  const { peers } = threadsOn(t);
  const server = createTcpServer();
  const port = await listen(t, server);
  const connected = once(server, "connection") as Promise<[Socket]>;
  const abort = new AbortController();
  const ended = assert.rejects(peers.runHook(hookTo(port), abort.signal), /enough/);
  const [socket] = await connected;
  const closed = new Promise((resolve) => socket.resume().once("close", resolve));
  abort.abort(new Error("enough"));
  await ended;
  await closed;
});

test("a hook that the end of the thread interrupted is sent again, not for ever", async (t) => {
  const { peers } = threadsOn(t);
  const server = createTcpServer();
  const sockets: Socket[] = [];
  server.on("connection", (socket: Socket) => sockets.push(socket));
  const port = await listen(t, server);
  const running = peers.runHook(hookTo(port), new AbortController().signal);
  running.catch(() => undefined);
  await until("the first request", () => sockets.length === 1, PATIENCE_MS);
  await peers.thread.terminate();
  await until("the second request", () => sockets.length === 2, PATIENCE_MS);
  sockets[1]?.end("HTTP/1.1 204 No Content\r\n\r\n");
  assert.deepEqual(await running, { ok: true, fellBack: false });
  const doomed = assert.rejects(peers.runHook(hookTo(port), new AbortController().signal), /peers/);
  for (let request = 3; request <= 5; request++) {
    await until(`request ${request}`, () => sockets.length === request, PATIENCE_MS);
    await peers.thread.terminate();
  }
  await doomed;
});
