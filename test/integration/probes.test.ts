// Probes on a real node: their effect on Ready, on restarts and on the order of a start. Neither a lost thread nor a
// lost kubelet changes a Ready pod.
// @promise Probes and hooks: Gate ChangeContainerStatusOnKubeletRestart: a new kubelet shows a Ready pod as not Ready
//   until a probe succeeds.
// @promise Probes and hooks: A killed kubelet and a lost prober thread do not change a Ready pod; liveness restarts
//   use the probe's own grace period; startup probes gate.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Container } from "../../src/shared/kubernetes/api/pod.js";
import { startNode, waitFor, type PodView, type TestNode } from "../harness/node.js";
import { agentLog, metric } from "../support/fault-node.js";
import {
  conditionsOf,
  IDLE,
  manifest,
  NODE_NAME,
  PATIENCE_MS,
  podOf,
  shell,
  statusOf,
  waitForPod,
} from "../support/static-pods.js";

let node: TestNode;
let ctl: string;

before(async () => {
  // From this verbosity on the log has the events of every start and end.
  node = await startNode({ flags: ["--v=3"], env: { NODELET_FAULTS: "1" } });
  ctl = join(node.kubelet.dir, "ctl");
  await mkdir(ctl);
});
after(() => node.stop());

const ready = (pod: PodView): boolean => conditionsOf(pod)["Ready"] === "True";
const notReady = (pod: PodView): boolean =>
  statusOf(pod, "app")?.state.running !== undefined && conditionsOf(pod)["Ready"] === "False";
/** On a slow machine a run may take longer than the second that a probe has by default. */
const FAST = { periodSeconds: 1, failureThreshold: 1, timeoutSeconds: 30 };
/** The test's own folder, by which it tells containers what to be. */
const mounts = { volumeMounts: [{ name: "ctl", mountPath: "/ctl" }] };

function pod(name: string, containers: Container[], spec: object = {}) {
  const volumes = [{ name: "ctl", hostPath: { path: ctl } }];
  return manifest(name, containers, { spec: { volumes, ...spec } });
}

describe("probes", { concurrency: 6 }, () => {
  test("readiness by exec: Ready follows a file, both ways", async () => {
    const readinessProbe = { ...FAST, exec: { command: ["test", "-e", "/ctl/ready"] } };
    await node.writeManifest("exec", pod("exec", [shell("app", IDLE, { readinessProbe, ...mounts })]));
    const before = await waitForPod(node, "exec", notReady, "running and not Ready");
    await writeFile(join(ctl, "ready"), "");
    await waitForPod(node, "exec", ready, "Ready");
    await rm(join(ctl, "ready"));
    const later = await waitForPod(node, "exec", notReady, "not Ready again");
    assert.equal(statusOf(later, "app")?.containerID, statusOf(before, "app")?.containerID);
  });

  test("readiness by HTTP and TCP: a web server with a named port", async () => {
    const http = { ...FAST, httpGet: { path: "/ok", port: "web" } };
    const tcp = { ...FAST, tcpSocket: { port: 8080 } };
    const script = `mkdir /www; httpd -f -p 8080 -h /www & until [ -e /ctl/page ]; do sleep 0.1; done; touch /www/ok; ${IDLE}`;
    const ports = [{ name: "web", containerPort: 8080 }];
    const app = shell("app", script, { readinessProbe: http, ports, ...mounts });
    const listener = shell("listener", IDLE, { readinessProbe: tcp });
    await node.writeManifest("http", pod("http", [app, listener]));
    await waitForPod(
      node,
      "http",
      (seen) => notReady(seen) && statusOf(seen, "listener")?.ready === true,
      "the port taken, the page missing",
    );
    await writeFile(join(ctl, "page"), "");
    await waitForPod(node, "http", ready, "Ready");
  });

  test("liveness: a container that fails it is stopped within the probe's own grace and started again", async () => {
    const livenessProbe = {
      ...FAST,
      terminationGracePeriodSeconds: 1,
      exec: { command: ["test", "!", "-e", "/sick"] },
    };
    // Deaf to SIGTERM: with the pod's own grace it would stay for ten minutes.
    const script = "trap '' TERM; [ -e /ctl/was-sick ] || touch /ctl/was-sick /sick; while true; do sleep 1; done";
    const containers = [shell("app", script, { livenessProbe, ...mounts })];
    await node.writeManifest("sick", pod("sick", containers, { terminationGracePeriodSeconds: 600 }));
    const healed = await waitForPod(
      node,
      "sick",
      (seen) => statusOf(seen, "app")?.restartCount === 1 && ready(seen),
      "started again",
    );
    assert.equal(statusOf(healed, "app")?.lastState.terminated?.exitCode, 137);
    await event("Unhealthy", "sick", /container app: Liveness probe failed: /);
    await event("Killing", "sick", /container app: Container app failed liveness probe, will be restarted$/);
  });

  test("startup: liveness waits for it; one that never succeeds ends the container", async () => {
    const startupProbe = { ...FAST, failureThreshold: 1000, exec: { command: ["test", "-e", "/ctl/started"] } };
    const livenessProbe = { ...FAST, exec: { command: ["touch", "/ctl/alive"] } };
    const app = shell("app", IDLE, { startupProbe, livenessProbe, ...mounts });
    const failing = shell("doomed", IDLE, { startupProbe: { ...FAST, exec: { command: ["false"] } } });
    await node.writeManifest("slow", pod("slow", [app, failing]));
    await waitForPod(node, "slow", (seen) => (statusOf(seen, "doomed")?.restartCount ?? 0) > 0, "doomed started again");
    await event("Killing", "slow", /container doomed: Container doomed failed startup probe, will be restarted$/);
    const early = await waitForPod(node, "slow", notReady, "app running, not yet started");
    assert.equal(statusOf(early, "app")?.started, false);
    assert.equal(existsSync(join(ctl, "alive")), false, "liveness has not run");
    await writeFile(join(ctl, "started"), "");
    await waitForPod(node, "slow", (seen) => statusOf(seen, "app")?.started === true, "app started");
    await waitFor(() => Promise.resolve(existsSync(join(ctl, "alive"))), {
      what: "liveness to run",
      timeoutMs: PATIENCE_MS,
    });
  });

  test("a sidecar's startup probe holds the app back", async () => {
    const startupProbe = { ...FAST, failureThreshold: 1000, exec: { command: ["test", "-e", "/ctl/proxy"] } };
    const proxy = shell("proxy", IDLE, { restartPolicy: "Always", startupProbe, ...mounts });
    const spec = { initContainers: [proxy] };
    await node.writeManifest("mesh", pod("mesh", [shell("app", IDLE)], spec));
    await waitForPod(node, "mesh", (seen) => statusOf(seen, "proxy")?.state.running !== undefined, "proxy running");
    // The probe has said no at least once.
    await event("Unhealthy", "mesh", /container proxy: Startup probe failed: /);
    const held = podOf(await node.pods(), "mesh");
    assert.equal(statusOf(held, "app")?.state.waiting?.reason, "PodInitializing");
    await writeFile(join(ctl, "proxy"), "");
    await waitForPod(node, "mesh", ready, "Ready");
  });
});

describe("restarts of processes, while a pod is Ready", () => {
  // A run takes so long that a pod whose result were lost would be seen as not Ready meanwhile.
  const readinessProbe = { periodSeconds: 3, timeoutSeconds: 30, failureThreshold: 1 };
  const exec = { command: ["sh", "-c", "sleep 2; test -e /ctl/steady"] };

  before(async () => {
    await writeFile(join(ctl, "steady"), "");
    const app = shell("app", IDLE, { readinessProbe: { ...readinessProbe, exec }, ...mounts });
    await node.writeManifest("steady", pod("steady", [app]));
    await waitForPod(node, "steady", ready, "Ready");
  });

  test("the prober thread: nothing is seen of it", async () => {
    const { pid } = node.kubelet;
    assert.ok(pid !== undefined);
    const watch = watchReadiness("steady");
    await writeFile(join(node.kubelet.rootDir, "nodelet", "fault"), "terminate prober");
    process.kill(pid, "SIGUSR2");
    await waitFor(
      async () =>
        (await metric(node, "nodelet_thread_restarts_total", { thread: "prober", reason: "terminated" })) === 1,
      { what: "the thread's restart", timeoutMs: PATIENCE_MS },
    );
    await waitFor(() => probed("steady"), { what: "a run of the new thread", timeoutMs: PATIENCE_MS });
    assert.deepEqual([...(await watch.end())], ["True"]);
    assert.equal(node.kubelet.pid, pid);
  });

  test("the kubelet: killed and started again, the pod was Ready all the time", async () => {
    const before = await waitForPod(node, "steady", ready, "Ready");
    const watch = watchReadiness("steady");
    await node.kill9();
    await node.restart();
    await waitFor(() => probed("steady"), { what: "a run of the new kubelet", timeoutMs: PATIENCE_MS });
    assert.deepEqual([...(await watch.end())], ["True"]);
    const after = await waitForPod(node, "steady", ready, "Ready");
    assert.equal(statusOf(after, "app")?.containerID, statusOf(before, "app")?.containerID);
    // And it is still asked.
    await rm(join(ctl, "steady"));
    await waitForPod(node, "steady", notReady, "not Ready");
  });

  /** Runs of the pod's readiness probe that have succeeded, as the thread that runs now counts them. */
  async function probed(name: string): Promise<boolean> {
    const response = await fetch(`${node.kubelet.url}/metrics/probes`, { signal: AbortSignal.timeout(20_000) });
    const line = new RegExp(`^prober_probe_total\\{.*pod="${name}-${NODE_NAME}".*result="successful"\\} [1-9]`, "m");
    return line.test(await response.text());
  }
});

describe("the gate ChangeContainerStatusOnKubeletRestart", () => {
  test("a new kubelet shows a Ready pod as not Ready until a probe of its own succeeds", async () => {
    // The first run succeeds. Later ones fail, but the third failure, which would change the result, is hours away.
    const exec = { command: ["sh", "-c", "mkdir /tmp/first"] };
    const readinessProbe = { periodSeconds: 3600, failureThreshold: 3, timeoutSeconds: 60, exec };
    await node.writeManifest("changes", pod("changes", [shell("app", IDLE, { readinessProbe })]));
    const before = await waitForPod(node, "changes", ready, "Ready");
    await node.restart();
    await waitForPod(node, "changes", ready, "still Ready without the gate");
    const { configFile } = node.kubelet;
    const config = JSON.parse(await readFile(configFile, "utf8")) as object;
    const featureGates = { ChangeContainerStatusOnKubeletRestart: true };
    await writeFile(configFile, JSON.stringify({ ...config, featureGates }));
    await node.restart();
    const after = await waitForPod(node, "changes", notReady, "not Ready");
    assert.equal(statusOf(after, "app")?.containerID, statusOf(before, "app")?.containerID);
  });
});

/** Collects every value that the pod's Ready condition is seen with, until it is ended. */
function watchReadiness(name: string): { end(): Promise<Set<string>> } {
  const seen = new Set<string>();
  const over = new AbortController();
  const watching = (async () => {
    while (!over.signal.aborted) {
      const pods = await node.pods().catch(() => []);
      const view = podOf(pods, name);
      // Before the pod is known again it has no condition at all.
      const value = view === undefined ? undefined : conditionsOf(view)["Ready"];
      if (value !== undefined) seen.add(value);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  return {
    async end() {
      over.abort();
      await watching;
      return seen;
    },
  };
}

/** Waits for an event of the manifest's pod in the kubelet's log. */
async function event(reason: string, name: string, text: RegExp): Promise<void> {
  await waitFor(
    async () =>
      (await agentLog(node)).some(
        (line) => line["event"] === reason && line.msg.includes(` ${name}-${NODE_NAME}_`) && text.test(line.msg),
      ),
    { what: `the event ${reason} of ${name}`, timeoutMs: PATIENCE_MS },
  );
}
