// kill -9 of the kubelet in each step of a takeover of the configuration that its cluster assigns. Afterwards it runs
// the previous one until it learns of the assignment, then the assigned one; the pod is never touched. Then a flood of
// changes and hostile texts.
// @promise Configuration and manifests: A kubelet killed with SIGKILL in each step of a takeover runs the assigned
//   configuration or the previous one, then the assigned one. Its event arrives. A flood of 600 texts causes at most 4
//   restarts; hostile texts are refused; spec.configSource of an old API server counts. Pods stay untouched.

import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { sleep } from "../../tools/standalone/wait.js";
import type { Fields } from "../fake-api/fake-api.js";
import { waitFor } from "../harness/node.js";
import { NODE_NAME } from "../support/cluster-node.js";
import { PATIENCE_MS, startFaultyCluster, type FaultyCluster } from "../support/faulty-cluster.js";
import { secureAsk, waitSecure } from "../support/secure-ask.js";
import { IDLE, idOf, manifest, podOf, shell, statusOf, waitForPod } from "../support/static-pods.js";

const NAME = "workers";
const NAMESPACE = "kube-system";
const FLOOD_MS = 20_000;

describe("a kubelet killed while it takes over an assigned configuration", { timeout: 15 * 60_000 }, () => {
  let cluster: FaultyCluster;
  let dir: string;
  let own: Fields;
  let container: string | undefined;
  let maxPods = 40;

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "nodelet-dynamic-"));
    const flags = ["--dynamic-config-dir", dir, "--dynamic-config-sources=kube-system/workers,kube-system/old"];
    cluster = await startFaultyCluster({ node: { secure: true, flags } });
    const { fixture, node, api } = cluster;
    fixture.settings.grants.push(
      ({ groups }, { verb, resource, name }) =>
        groups.includes("system:nodes") && verb !== "update" && resource === "configmaps" && name === NAME,
    );
    own = JSON.parse(await readFile(node.kubelet.configFile, "utf8")) as Fields;
    await node.writeManifest("web", manifest("web", [shell("app", IDLE)]));
    const ready = await waitForPod(node, "web", (pod) => statusOf(pod, "app")?.ready === true, "ready");
    container = idOf(statusOf(ready, "app"));
    put({ maxPods });
    await api.patch("nodes", "", NODE_NAME, {
      metadata: { annotations: { "nodelet.dev/config-source": `${NAMESPACE}/${NAME}` } },
    });
    await runsWith(maxPods);
  });
  after(async () => {
    await cluster.stop();
    await rm(dir, { recursive: true, force: true });
  });

  function put(fields: Fields | string): void {
    const kubelet = typeof fields === "string" ? fields : JSON.stringify({ ...own, ...fields });
    cluster.fixture.store.put("configmaps", { metadata: { namespace: NAMESPACE, name: NAME }, data: { kubelet } });
  }
  const logged = (): Promise<string> => readFile(cluster.node.kubelet.log, "utf8");
  const restarts = async (): Promise<number> => (await logged()).split("restarting in place").length - 1;
  const inStore = async (name: string): Promise<string> =>
    await readFile(join(dir, "store", name), "utf8").catch(() => "");

  async function configured(): Promise<unknown> {
    const { body } = await secureAsk(cluster.node, "/configz");
    return (JSON.parse(body) as { kubeletconfig: Fields }).kubeletconfig["maxPods"];
  }
  async function runsWith(value: number): Promise<void> {
    const lastSeen = async (): Promise<string> => (await logged()).split("\n").slice(-25).join("\n");
    await waitFor(async () => (await configured().catch(() => undefined)) === value, {
      what: `maxPods ${value}`,
      timeoutMs: 8 * PATIENCE_MS,
      lastSeen,
    });
  }
  async function podIsUntouched(): Promise<void> {
    const app = async (): Promise<ReturnType<typeof statusOf>> =>
      statusOf(podOf(await cluster.node.pods(), "web"), "app");
    await waitFor(async () => (await app().catch(() => undefined))?.ready === true, {
      what: "the pod to be ready",
      timeoutMs: PATIENCE_MS,
    });
    const now = await app();
    assert.equal(idOf(now), container);
    assert.equal(now?.restartCount, 0);
  }

  /** The API server has the event of the restart into the ConfigMap as it is now. */
  async function announced(): Promise<void> {
    const { uid = "", resourceVersion = "" } = cluster.fixture.store.get("configmaps", NAMESPACE, NAME)?.metadata ?? {};
    const words = `UID: ${uid}, ResourceVersion: ${resourceVersion},`;
    const has = (): boolean =>
      cluster.fixture.store.list("events").some(({ message }) => String(message).includes(words));
    await waitFor(has, { what: `an event with ${words}`, timeoutMs: PATIENCE_MS });
  }

  /** Steps of a change, as the store and the log show them. */
  const STEPS: [name: string, reached: (before: Seen) => Promise<boolean>][] = [
    ["before anything is written", async () => Promise.resolve(true)],
    [
      "with a new checkpoint",
      async ({ checkpoints }) => (await checkpointNames()).some((name) => !checkpoints.includes(name)),
    ],
    ["assigned", async ({ assigned }) => (await inStore("meta/assigned")) !== assigned],
    ["with the event on disk", async () => (await inStore("meta/announcement")) !== ""],
    ["within the restart", async ({ restarted }) => (await restarts()) > restarted],
    ["with the trial begun", async ({ trial }) => !["", trial].includes(await inStore("meta/trial"))],
  ];
  interface Seen {
    checkpoints: string[];
    assigned: string;
    trial: string;
    restarted: number;
  }
  const checkpointNames = (): Promise<string[]> => readdir(join(dir, "store", "checkpoints"));

  for (const [name, reached] of STEPS) {
    test(`killed ${name}`, async () => {
      // As if an hour had passed since the last restart: the next process has its whole budget.
      await cluster.node.kubelet.end("SIGTERM");
      await rm(join(dir, "store/meta/restarts"), { force: true });
      await cluster.node.kubelet.start();
      await cluster.node.kubelet.waitHealthy();
      const before: Seen = {
        checkpoints: await checkpointNames(),
        assigned: await inStore("meta/assigned"),
        trial: await inStore("meta/trial"),
        restarted: await restarts(),
      };
      const release = cluster.fixture.faults.hang({ resource: "events" });
      put({ maxPods: ++maxPods });
      await waitFor(() => reached(before), { what: name, timeoutMs: PATIENCE_MS, intervalMs: 5 });
      await cluster.node.kill9();
      release();
      await cluster.node.kubelet.start();
      await cluster.node.kubelet.waitHealthy();
      await podIsUntouched();
      await waitSecure(cluster.node);
      const last = await configured();
      assert.ok(last === maxPods || last === maxPods - 1, String(last));
      await runsWith(maxPods);
      await podIsUntouched();
      await announced();
    });
  }

  test("a flood of good texts: few restarts, and the last text runs", async () => {
    const before = await restarts();
    // Over before the budget allows a fifth restart, also on a slow machine.
    const end = performance.now() + FLOOD_MS;
    for (let change = 0; change < 600 && performance.now() < end; change++) {
      put({ maxPods: ++maxPods });
      await sleep(20);
    }
    await runsWith(maxPods);
    assert.ok((await restarts()) - before <= 4, String((await restarts()) - before));
    await podIsUntouched();
  });

  test("hostile texts are refused, and the configuration stays", async () => {
    const before = await restarts();
    const bomb = [
      "a: &a [x,x,x,x,x,x,x,x,x]",
      ...Array.from({ length: 8 }, (_, n) => `b${n}: &b${n} [${`*${n === 0 ? "a" : `b${n - 1}`},`.repeat(9)}]`),
    ];
    const hostile = [
      "",
      "{",
      "x".repeat(1024 * 1024),
      `a: ${"[".repeat(100_000)}`,
      bomb.join("\n"),
      "\u0000",
      "- a",
      JSON.stringify({ ...own, maxPods: {} }),
    ];
    for (const text of hostile) {
      const errorBefore = await inStore("meta/status.json");
      put(text);
      await waitFor(
        async () =>
          (await inStore("meta/status.json")) !== errorBefore &&
          (await inStore("meta/status.json")).includes('"error"'),
        {
          what: `the refusal of ${text.slice(0, 30)}`,
          timeoutMs: PATIENCE_MS,
          lastSeen: () => inStore("meta/status.json"),
        },
      );
      assert.equal(await configured(), maxPods);
    }
    put({ maxPods });
    await waitFor(async () => !(await inStore("meta/status.json")).includes('"error"'), {
      what: "no error",
      timeoutMs: PATIENCE_MS,
    });
    assert.equal(await restarts(), before);
    await podIsUntouched();
  });

  test("spec.configSource of an old API server is honoured where the Node has no annotation", async () => {
    const { fixture, api } = cluster;
    await api.patch("nodes", "", NODE_NAME, { metadata: { annotations: { "nodelet.dev/config-source": null } } });
    await runsWith(110);
    fixture.store.put("configmaps", {
      metadata: { namespace: NAMESPACE, name: "old" },
      data: { main: JSON.stringify({ ...own, maxPods: 39 }) },
    });
    fixture.settings.grants.push(
      ({ groups }, { resource, name }) =>
        groups.includes("system:nodes") && resource === "configmaps" && name === "old",
    );
    const old = await api.get("nodes", "", NODE_NAME);
    fixture.store.put("nodes", {
      ...old,
      spec: {
        ...old.spec,
        configSource: { configMap: { namespace: NAMESPACE, name: "old", kubeletConfigKey: "main" } },
      },
    });
    await runsWith(39);
    await podIsUntouched();
  });
});
