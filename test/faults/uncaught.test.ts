// Errors that no caller catches, in each way they come about, in main and in the worker threads, beside a pod with probes.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { connect as connectHttp2 } from "node:http2";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { isHealthy } from "../../packaging/standalone/pods.js";
import { startNode, waitFor, type PodView, type TestNode } from "../harness/node.js";
import { agentLog, identities, metric, PATIENCE_MS, podOf, type AgentLogLine } from "../support/fault-node.js";
import { secureAsk, waitSecure } from "../support/secure-ask.js";
import { conditionsOf, IDLE, manifest, NODE_NAME, shell } from "../support/static-pods.js";
import { ChannelSocket } from "../support/websocket.js";

const FAULTS = ["throw-timer", "throw-tick", "reject"] as const;
const PROBE = { exec: { command: ["true"] }, periodSeconds: 1 };
const POD = manifest("probed", [shell("c0", IDLE, { readinessProbe: PROBE, livenessProbe: PROBE })]);

interface Handler {
  /** As in src/shared/thread/fault-points.ts. */
  point: string;
  thread: string;
  /** Brings the handler about; rejects when its work was not done. Absent: it runs all the time. */
  exercise?: (node: TestNode) => Promise<void>;
  /** The thread that starts over. */
  ends?: string;
}

/** Main's messages come from every thread: the one whose message was lost starts over. */
const SENDER = "the sender";

const HANDLERS: Handler[] = [
  { point: "cri-reply", thread: "main", exercise: shortPod },
  { point: "cri-reply", thread: "pleg" },
  { point: "cri-reply", thread: "prober" },
  { point: "cri-reply", thread: "server", exercise: (node) => ok(node, "/runningpods/") },
  { point: "inotify", thread: "main", exercise: shortPod },
  { point: "ring-record", thread: "main", exercise: shortPod, ends: "pleg" },
  { point: "ring-record", thread: "pleg", exercise: shortPod, ends: "pleg" },
  { point: "thread-message", thread: "main", exercise: scrape, ends: SENDER },
  { point: "thread-message", thread: "pleg", exercise: scrape, ends: "pleg" },
  { point: "thread-message", thread: "prober", exercise: scrape, ends: "prober" },
  { point: "thread-message", thread: "server", exercise: scrape, ends: "server" },
  { point: "http-request", thread: "server", exercise: (node) => ok(node, "/healthz") },
  { point: "http-route", thread: "server", exercise: (node) => ok(node, "/healthz") },
  { point: "http-upgrade", thread: "server", exercise: execTrue },
  { point: "http2-session", thread: "server", exercise: http2Healthz },
  { point: "http2-request", thread: "server", exercise: http2Healthz },
];

describe("an error that no caller catches", () => {
  let node: TestNode;
  let calm: Record<string, string>;
  let pid: number | undefined;

  before(async () => {
    node = await startNode({ secure: true, env: { NODELET_FAULTS: "1" } });
    await node.writeManifest("probed", POD);
    const pods = await node.waitFor((seen) => isReady(seen), {
      what: "the pod to be Ready",
      timeoutMs: PATIENCE_MS,
    });
    calm = identities(pods, ["probed"]);
    pid = node.kubelet.pid;
    await waitSecure(node);
  });
  after(() => node.stop());

  for (const thread of ["main", "server"]) {
    for (const fault of FAULTS) {
      test(`${thread}: ${fault}: the thread outlives it`, { timeout: 2 * PATIENCE_MS }, async () => {
        const logged = (await agentLog(node)).length;
        const counted = await uncaught(thread);
        await order(node, `${fault} ${thread}`);
        await waitFor(async () => (await uncaught(thread)) > counted, {
          what: "the error to be counted",
          timeoutMs: PATIENCE_MS,
        });
        const since = (await agentLog(node)).slice(logged);
        assert.ok(since.some(({ msg }) => msg.startsWith(`uncaught error, the thread goes on: OrderedFaultError`)));
        assert.deepEqual(since.filter(isExit), []);
        await untouched();
      });
    }
  }

  for (const thread of ["pleg", "prober", "image-gc"]) {
    for (const fault of FAULTS) {
      test(`${thread}: ${fault}: only this thread starts over`, { timeout: 2 * PATIENCE_MS }, async () => {
        const logged = (await agentLog(node)).length;
        await order(node, `${fault} ${thread}`);
        await waitFor(
          async () => (await agentLog(node)).slice(logged).some(({ msg, thread: of }) => msg === RUNS && of === thread),
          { what: "the thread to run again", timeoutMs: PATIENCE_MS },
        );
        const exits = (await agentLog(node)).slice(logged).filter(isExit);
        assert.deepEqual(
          exits.map(({ thread: of, cause }) => [of, cause]),
          [[thread, "uncaught"]],
        );
        await untouched();
      });
    }
  }

  for (const { point, thread, exercise, ends } of HANDLERS) {
    const reach = ends === undefined ? "no thread ends" : `only ${ends} starts over`;
    test(`${thread}: ${point}: ${reach}`, { timeout: 2 * PATIENCE_MS }, async () => {
      const logged = (await agentLog(node)).length;
      const since = async (): Promise<AgentLogLine[]> => (await agentLog(node)).slice(logged);
      const has = async (text: string): Promise<boolean> => (await since()).some(({ msg }) => msg === text);
      await order(node, `throw-in ${point} ${thread}`);
      await waitFor(() => has(`fault point ${point} is armed`), { what: "the order", timeoutMs: PATIENCE_MS });
      // One exercise may pass the handler by: a scrape is answered with known figures while another one is open.
      const throws = async (): Promise<boolean> => {
        await exercise?.(node).catch(() => undefined);
        return has(`fault point ${point} throws`);
      };
      await waitFor(throws, { what: "the handler to throw", timeoutMs: PATIENCE_MS });
      if (ends !== undefined)
        await waitFor(() => has(RUNS), { what: "the thread to run again", timeoutMs: PATIENCE_MS });
      // What the handler is there for works again.
      await exercise?.(node);
      const exits = (await since()).filter(isExit);
      if (ends === SENDER) assert.equal(exits.length, 1);
      else
        assert.deepEqual(
          exits.map(({ thread: of }) => of),
          ends === undefined ? [] : [ends],
        );
      if (point === "thread-message") assert.equal(exits[0]?.cause, "message-lost");
      await untouched();
    });
  }

  async function untouched(): Promise<void> {
    const pods = await node.pods();
    assert.ok(isReady(pods));
    assert.deepEqual(identities(pods, ["probed"]), calm);
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

async function shortPod(node: TestNode): Promise<void> {
  await node.writeManifest("short", manifest("short", [shell("c0", IDLE)]));
  await node.waitFor((seen) => podOf(seen, "short") !== undefined && isReady(seen, "short"), {
    what: "another pod to be Ready",
    timeoutMs: PATIENCE_MS,
  });
  await node.removeManifest("short");
  await node.waitFor((seen) => podOf(seen, "short") === undefined, {
    what: "the other pod to be gone",
    timeoutMs: PATIENCE_MS,
  });
}

/** Main asks all threads for their figures. */
async function scrape(node: TestNode): Promise<void> {
  const response = await fetch(`${node.kubelet.url}/metrics`, { signal: AbortSignal.timeout(PATIENCE_MS) });
  await response.text();
  assert.equal(response.status, 200);
}

async function ok(node: TestNode, path: string): Promise<void> {
  assert.equal((await secureAsk(node, path)).status, 200);
}

async function execTrue(node: TestNode): Promise<void> {
  const path = `/exec/default/probed-${NODE_NAME}/c0?command=true&output=1`;
  const socket = await ChannelSocket.connect(`${node.kubelet.secureUrl}${path}`, {});
  await socket.until(() => socket.closed);
}

async function http2Healthz(node: TestNode): Promise<void> {
  const session = connectHttp2(node.kubelet.secureUrl, { rejectUnauthorized: false });
  try {
    await new Promise<void>((resolve, reject) => {
      session.once("error", reject).once("close", () => reject(new Error("the session ended")));
      const stream = session.request({ ":path": "/healthz" });
      stream.once("error", reject).once("close", () => reject(new Error("the stream ended")));
      stream.once("response", ({ ":status": status }) =>
        status === 200 ? resolve() : reject(new Error(`status ${status}`)),
      );
      stream.resume();
    });
  } finally {
    session.destroy();
  }
}

const RUNS = "thread running";

function isReady(pods: readonly PodView[], name = "probed"): boolean {
  const pod = podOf(pods, name);
  return pod !== undefined && conditionsOf(pod)["Ready"] === "True";
}

function isExit({ msg }: AgentLogLine): boolean {
  return msg.startsWith("thread exited");
}

/** The fault hook's two steps, see src/main/startup/fault-hook.ts. */
async function order(node: TestNode, text: string): Promise<void> {
  const { pid } = node.kubelet;
  assert.ok(pid !== undefined, "the agent runs");
  await writeFile(join(node.kubelet.rootDir, "nodelet", "fault"), text);
  process.kill(pid, "SIGUSR2");
}
