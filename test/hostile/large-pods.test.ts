// Pods of the largest size that the API server accepts, and thousands of Failed pods. The kubelet keeps their identity
// and status only, so a new pod starts, and the next kubelet is soon ready. NODELET_HOSTILE=whole runs 500 large pods
// and 12,500 Failed ones.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test, type TestContext } from "node:test";
import { usageOf, type Usage } from "../../bench/lib/process-usage.js";
import type { ApiObject, Fields } from "../fake-api/fake-api.js";
import { waitFor } from "../harness/node.js";
import { boundPod, isReady, statusOf } from "../support/cluster-node.js";
import { PATIENCE_MS, startFaultyCluster, type FaultyCluster } from "../support/faulty-cluster.js";
import { MemoryLimit } from "../support/memory-limit.js";
import { IDLE } from "../support/static-pods.js";

const IS_WHOLE = process.env["NODELET_HOSTILE"] === "whole";
const REJECTED = IS_WHOLE ? 500 : 60;
/** Large pods that a starting kubelet does not know: they are in memory together until it admits or rejects them. */
const WAITING = 60;
const ENDED = IS_WHOLE ? 12_500 : 1500;
/** Limit for the growth of the kubelet's RSS, MiB. With the small sizes V8 collects less of its garbage. */
const GROWTH_MIB = IS_WHOLE ? 64 : 128;
const LONG_MS = (IS_WHOLE ? 20 : 5) * PATIENCE_MS;
/** Together nearly a megabyte, in values of the largest size that the kernel takes. */
const LARGE_ENV = Array.from({ length: 8 }, (_, index) => ({ name: `TEXT${index}`, value: "x".repeat(120_000) }));
const CONFIG_BYTES = 1_000_000;

/** The kubelet's memory, as on a small node. Beyond it, the kernel ends the process. */
const LIMIT_BYTES = 1024 ** 3;

let cluster: FaultyCluster;
let dir: string;
let limit: MemoryLimit | undefined;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), "nodelet-large-"));
  limit = await MemoryLimit.make(dir, LIMIT_BYTES);
  const entry = limit === undefined ? {} : { entry: limit.entry };
  cluster = await startFaultyCluster({ node: { ...entry, config: { maxPods: 110 } } });
});
after(async () => {
  await cluster.stop();
  await limit?.remove();
  await rm(dir, { recursive: true, force: true });
});

const usage = (): Promise<Usage> => usageOf(Number(cluster.node.kubelet.pid));

async function becomesReady(name: string): Promise<void> {
  await cluster.api.create("pods", boundPod(name, IDLE));
  await cluster.api.waitFor("pods", "default", name, isReady, { what: `${name} Ready`, timeoutMs: LONG_MS });
}

function ofApp(fields: Fields, spec: Fields): (name: string) => Fields {
  return (name) => {
    const pod = boundPod(name, "exit 0", { ...spec, restartPolicy: "Never" }) as {
      spec: { containers: Fields[] };
    };
    Object.assign(pod.spec.containers[0] ?? {}, fields);
    return pod;
  };
}

const rejected = ofApp({ env: LARGE_ENV }, { nodeSelector: { "example.com/no": "such" } });
const isRejected = (pod: ApiObject | undefined): boolean => statusOf(pod).reason === "NodeAffinity";

describe("large and ended pods of the API server", () => {
  let before: number;

  async function createLarge(prefix: string, count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      await cluster.api.create("pods", rejected(`${prefix}-${index}`));
    }
  }

  async function allRejected(prefix: string, count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      const name = `${prefix}-${index}`;
      const isDone = (): boolean => isRejected(cluster.fixture.store.get("pods", "default", name));
      await waitFor(() => Promise.resolve(isDone()), { what: `${name} to be rejected`, timeoutMs: LONG_MS });
    }
  }

  async function startsSoon(t: TestContext, name: string): Promise<void> {
    const began = performance.now();
    const since = (): string => `${Math.round(performance.now() - began)} ms after its start`;
    await cluster.node.restart();
    t.diagnostic(`healthy ${since()}`);
    await becomesReady(name);
    t.diagnostic(`a new pod Ready ${since()}; processor time of the kubelet ${(await usage()).cpuSeconds} s`);
  }

  async function growsLittle(): Promise<string> {
    let now = Infinity;
    const isSmall = async (): Promise<boolean> => {
      now = (await usage()).rssMiB;
      return now - before < GROWTH_MIB;
    };
    await waitFor(isSmall, { what: "memory to be given back", timeoutMs: LONG_MS, lastSeen: () => `${now} MiB` });
    const used =
      limit === undefined ? "" : `; ${await limit.highestMiB()} MiB of 1 GiB used at most, with the page cache`;
    return `${before} MiB before, ${now} after, highest ${(await usage()).peakMiB}${used}`;
  }

  test("thousands of pods that have ended delay neither the next kubelet nor a new pod", async (t) => {
    await becomesReady("first");
    before = (await usage()).rssMiB;
    await cluster.node.kill9();
    const ended = ofApp({}, {});
    for (let index = 0; index < ENDED; index++) {
      const status = { phase: "Failed", reason: "Evicted", message: "The node was low on resource: memory." };
      cluster.fixture.store.put("pods", { ...ended(`ended-${index}`), status } as never);
    }
    await startsSoon(t, "second");
    t.diagnostic(await growsLittle());
  });

  test("each pod of a megabyte that does not fit is rejected, and a new pod starts", async (t) => {
    await createLarge("large", REJECTED);
    await allRejected("large", REJECTED);
    await becomesReady("third");
    t.diagnostic(`${REJECTED} rejected: ${await growsLittle()}`);
  });

  test("ConfigMaps of a megabyte that change all the time reach their pods", async () => {
    const config = (version: string): Fields => ({
      metadata: { name: "large", namespace: "default" },
      data: { version, text: version.padEnd(CONFIG_BYTES, "x") },
    });
    await cluster.api.create("configmaps", config("0"));
    const volumes = [{ name: "config", configMap: { name: "large" } }];
    const reads = ofApp(
      {
        command: ["/bin/sh", "-c", "until grep -q last /c/version; do sleep 1; done"],
        volumeMounts: [{ name: "config", mountPath: "/c" }],
      },
      { volumes },
    );
    await cluster.api.create("pods", reads("reader"));
    const isRunning = (pod: ApiObject | undefined): boolean => statusOf(pod).phase === "Running";
    await cluster.api.waitFor("pods", "default", "reader", isRunning, { what: "reader Running", timeoutMs: LONG_MS });
    for (let version = 1; version <= 40; version++)
      cluster.fixture.store.put("configmaps", config(String(version)) as never);
    cluster.fixture.store.put("configmaps", config("last") as never);
    const hasRead = (pod: ApiObject | undefined): boolean => statusOf(pod).phase === "Succeeded";
    await cluster.api.waitFor("pods", "default", "reader", hasRead, { what: "reader to see it", timeoutMs: LONG_MS });
  });

  test("the kubelet's RSS stays within the limit, and no thread of it restarted", async (t) => {
    t.diagnostic(await growsLittle());
    const metrics = await (await fetch(`${cluster.node.kubelet.url}/metrics`)).text();
    assert.doesNotMatch(metrics, /^nodelet_thread_restarts_total\{[^}]*\} [1-9]/m);
  });

  test("the next kubelet starts a new pod, and grows as little", async (t) => {
    await cluster.node.kill9();
    await startsSoon(t, "fourth");
    t.diagnostic(await growsLittle());
  });

  test("pods of a megabyte that all wait for the next kubelet are rejected, and a new pod starts", async (t) => {
    await cluster.node.kill9();
    await createLarge("waiting", WAITING);
    await cluster.node.restart();
    await allRejected("waiting", WAITING);
    await becomesReady("fifth");
    t.diagnostic(await growsLittle());
  });
});
