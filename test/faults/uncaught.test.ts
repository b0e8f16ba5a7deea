// Errors that no caller catches, in each way they come about, in main and in the worker threads, beside a pod with probes.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { isHealthy } from "../../packaging/standalone/pods.js";
import { startNode, waitFor, type PodView, type TestNode } from "../harness/node.js";
import { agentLog, identities, metric, PATIENCE_MS, podOf, type AgentLogLine } from "../support/fault-node.js";
import { conditionsOf, IDLE, manifest, shell } from "../support/static-pods.js";

const FAULTS = ["throw-timer", "throw-tick", "reject"] as const;
const PROBE = { exec: { command: ["true"] }, periodSeconds: 1 };
const POD = manifest("probed", [shell("c0", IDLE, { readinessProbe: PROBE, livenessProbe: PROBE })]);

describe("an error that no caller catches", () => {
  let node: TestNode;
  let calm: Record<string, string>;
  let pid: number | undefined;

  before(async () => {
    node = await startNode({ env: { NODELET_FAULTS: "1" } });
    await node.writeManifest("probed", POD);
    const pods = await node.waitFor((seen) => isReady(seen), {
      what: "the pod to be Ready",
      timeoutMs: PATIENCE_MS,
    });
    calm = identities(pods, ["probed"]);
    pid = node.kubelet.pid;
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

const RUNS = "thread running";

function isReady(pods: readonly PodView[]): boolean {
  const pod = podOf(pods, "probed");
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
