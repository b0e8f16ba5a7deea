// Resource usage of pods and containers on a node with a real runtime.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { PodStats, Summary } from "../../src/workers/server/stats/summary/types.js";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { IDLE, idOf, manifest, NODE_NAME, podOf, shell, statusOf, waitForPod } from "../support/static-pods.js";

const LIMIT = 80_000_000;
const BUSY = "i=0; while true; do i=$((i+1)); [ $((i % 20000)) -ne 0 ] || sleep 0.05; done";

let node: TestNode;

before(async () => {
  node = await startNode();
  const app = shell("app", `echo some words; echo 1 > /written; echo 2 > /cache/kept; ${BUSY}`, {
    resources: { limits: { memory: String(LIMIT) } },
    volumeMounts: [{ name: "cache", mountPath: "/cache" }],
  });
  const spec = { volumes: [{ name: "cache", emptyDir: {} }] };
  await node.writeManifest("used", manifest("used", [app, shell("idle", IDLE)], { spec }));
  await waitForPod(
    node,
    "used",
    (pod) => ["app", "idle"].every((name) => statusOf(pod, name)?.state.running !== undefined),
    "running",
  );
});
after(() => node.stop());

async function get(path: string, init: RequestInit = {}): Promise<{ status: number; type: string; text: string }> {
  const response = await fetch(`${node.kubelet.url}${path}`, init);
  return { status: response.status, type: response.headers.get("content-type") ?? "", text: await response.text() };
}

async function summary(query = "", init: RequestInit = {}): Promise<{ node: Summary["node"]; pod: PodStats }> {
  const { status, type, text } = await get(`/stats/summary${query}`, init);
  assert.equal(status, 200, text);
  assert.equal(type, "application/json");
  const parsed = JSON.parse(text) as Summary;
  const pod = parsed.pods.find(({ podRef }) => podRef.name === `used-${NODE_NAME}`);
  assert.ok(pod !== undefined, text);
  return { node: parsed.node, pod };
}

function container(pod: PodStats, name: string): PodStats["containers"][0] {
  const found = pod.containers.find((each) => each.name === name);
  assert.ok(found !== undefined, JSON.stringify(pod));
  return found;
}

function between(value: number | undefined, low: number, high: number, what: string): void {
  assert.ok(value !== undefined && value >= low && value <= high, `${what} is ${value}, not of ${low} to ${high}`);
}

test("the summary shows the usage of node, pod and containers, and from the second request on the rate", async () => {
  let last = await summary();
  await waitFor(
    async () => {
      last = await summary();
      const app = container(last.pod, "app");
      const [volume] = last.pod.volume ?? [];
      const seen = [app.cpu?.usageNanoCores, app.logs?.usedBytes, volume?.usedBytes, last.pod.network?.rxBytes];
      return seen.every((amount) => (amount ?? 0) > 0);
    },
    {
      what: "a rate of the busy container, its log, its volume and its network measured",
      timeoutMs: 90_000,
      lastSeen: () => JSON.stringify(last.pod),
    },
  );
  const { pod, node: shown } = last;
  const app = container(pod, "app");
  assert.equal(shown.nodeName, NODE_NAME);
  between(shown.memory?.workingSetBytes, 1e6, 1e13, "the node's working set");
  between(shown.fs?.capacityBytes, 1e6, 1e16, "the node's disk");
  between(shown.runtime?.imageFs?.capacityBytes, 1e6, 1e16, "the images' disk");
  between(app.cpu?.usageCoreNanoSeconds, 1e6, 1e11, "CPU time");
  between(app.cpu?.usageNanoCores, 1e5, 2e9, "CPU rate");
  between(app.memory?.workingSetBytes, 1000, LIMIT, "working set");
  between(app.memory?.availableBytes, 1000, LIMIT, "memory left");
  assert.equal(container(pod, "idle").memory?.availableBytes, undefined);
  // The runtime counts what was written every ten seconds only.
  between(app.rootfs?.usedBytes, 0, 1e6, "what the container wrote");
  between(app.rootfs?.capacityBytes, 1e6, 1e16, "the disk it wrote to");
  between(app.logs?.usedBytes, 1, 1e6, "its log");
  between(pod.memory?.usageBytes, app.memory?.rssBytes ?? 0, LIMIT, "the pod's memory");
  assert.equal(pod.network?.name, "eth0");
  between(pod.network.rxBytes, 1, 1e9, "bytes received");
  const [volume] = pod.volume ?? [];
  assert.equal(volume?.name, "cache");
  between(volume.usedBytes, 1, 1e6, "the volume");
  const parts = [app.rootfs, app.logs, container(pod, "idle").rootfs, container(pod, "idle").logs, volume];
  const sum = parts.reduce((total, part) => total + (part?.usedBytes ?? 0), 0);
  // Two blocks of /etc/hosts, and two of each container's folder with its termination message.
  const ours = 8192 + 2 * 8192;
  between(pod["ephemeral-storage"]?.usedBytes, sum, sum + ours, "all of the pod on disk, with the kubelet's own files");
  between(pod.process_stats?.process_count, 2, 10, "processes");
});

test("a summary of CPU and memory alone, by query and by form", async () => {
  const form = { method: "POST", body: new URLSearchParams({ only_cpu_and_memory: "true" }) };
  for (const { node: shown, pod } of [await summary("?only_cpu_and_memory=true"), await summary("", form)]) {
    assert.equal(shown.fs, undefined);
    assert.equal(container(pod, "app").rootfs, undefined);
    between(container(pod, "app").memory?.usageBytes, 1000, LIMIT, "memory");
  }
});

test("the pages for scrapers name the containers", async () => {
  const id = idOf(statusOf(podOf(await node.pods(), "used"), "app"));
  const resource = await get("/metrics/resource");
  assert.equal(resource.type, "text/plain; version=0.0.4; charset=utf-8; escaping=underscores");
  const labels = `container="app",namespace="default",pod="used-${NODE_NAME}"`;
  assert.match(resource.text, new RegExp(`^container_cpu_usage_seconds_total\\{${labels}\\} [0-9.e+-]+ \\d{13}$`, "m"));
  assert.match(resource.text, /^resource_scrape_error 0$/m);
  const { text } = await get("/metrics/cadvisor");
  const own = `container="app",id="/[^"]*${id}",image="[^"]+",name="${id}",namespace="default"`;
  assert.match(text, new RegExp(`^container_memory_rss\\{${own},pod="used-${NODE_NAME}"\\} [1-9]`, "m"));
  assert.match(text, /^container_network_receive_bytes_total\{container="",id="[^"]+",image="[^"]+",interface="eth0"/m);
  assert.match(text, /^machine_memory_bytes\{/m);
});
