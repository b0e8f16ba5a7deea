// A churn of everything for half an hour: does the kubelet stay as it is? Pods of all shapes come from files and an API
// server. Probes, execs, followers, scrapes, resizes, changed config maps, pulls and kills of the runtime are added.
// Memory, open files and threads are looked at whenever the pods of files are as ordered, so that the samples compare.
// @headline Failures | Endless churn does not grow memory. | ≤ 1 MiB in 10 min
// @promise Failures: Endless churn: memory, open files and threads are constant: RSS and each heap grow by less than 1
//   MiB in 10 minutes.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import { createCriClient } from "../../src/shared/kubernetes/cri/client.js";
import { aliases, Churn } from "../../test/support/churn.js";
import { startRegistry } from "../../test/support/registry.js";
import { chosenSeed, randomFrom } from "../../test/support/seeded-random.js";
import { buildImages, BUSYBOX_IMAGE } from "../../tools/standalone/images.js";
import type { PodView } from "../../tools/standalone/pods.js";
import { sleep, waitFor } from "../../tools/standalone/wait.js";
import { startCluster } from "../lib/cluster-under-test.js";
import { InspectedProcess } from "../lib/inspected-process.js";
import { startNodeUnderTest } from "../lib/node-under-test.js";
import { benchFolder } from "../lib/places.js";
import type { Section } from "../lib/section.js";
import { Execs, Followers, Scrapes, startWriters } from "../soak/clients.js";
import { ConfigChanges, Jobs, Pulls, Resizes } from "../soak/cluster-churn.js";
import { RuntimeKills } from "../soak/runtime-kills.js";
import {
  Activities,
  fromOf,
  soakReports,
  takeSample,
  verdict,
  type SoakResult,
  type SoakSample,
} from "../soak/samples.js";
import { benchSoakUnderAttack } from "../soak/under-attack.js";

const SLOTS = 30;
const ROUND_MS = 20_000;
const PAUSE_MS = 1000;
const SETTLE_MS = 240_000;
const WRITERS = ["writer-0", "writer-1"];
const TAGS = ["1", "2", "3"];

/** `NODELET_BENCH_SOAK_MINUTES`, half an hour unless it is set. */
function soakMinutes(): number {
  const minutes = Number(process.env["NODELET_BENCH_SOAK_MINUTES"] ?? 30);
  if (!(minutes > 0))
    throw new Error("NODELET_BENCH_SOAK_MINUTES is not a number above 0: set the minutes of the soak");
  return minutes;
}

export const soakSection: Section<SoakResult> = {
  name: "soak",
  packages: [{ name: "docker-registry", program: "docker-registry" }],
  run: () =>
    process.env["NODELET_BENCH_SOAK_ATTACKS"] === "1" ? benchSoakUnderAttack(soakMinutes()) : benchSoak(soakMinutes()),
  report: soakReports,
};

async function benchSoak(minutes: number): Promise<SoakResult> {
  await using cluster = await startCluster();
  const base = benchFolder("soak");
  const config = { crashLoopBackOff: { maxContainerRestartPeriod: "1s" } };
  const flags = ["--kubeconfig", cluster.nodeKubeconfig];
  const node = await startNodeUnderTest(base, config, { flags, port: 21_250 });
  try {
    const seed = chosenSeed();
    const random = randomFrom(seed);
    const ctl = join(node.kubelet.dir, "ctl");
    await mkdir(ctl);
    await startWriters(node, WRITERS);
    const churn = new Churn({
      put: (name, pod) => node.manifests.put(name, pod).then(() => undefined),
      remove: (name) => node.manifests.remove(name).then(() => undefined),
      images: await aliases(node.containerd.endpoint, BUSYBOX_IMAGE),
      ...{ ctl, nodeName: "bench", random, slots: SLOTS, runtimeDies: true },
    });
    for (const name of churn.names) await churn.put(name);
    const registry = await startRegistry({ auth: false });
    const archive = await buildImages(join(base, "images"));
    for (const tag of TAGS)
      await registry.push({ archive, source: BUSYBOX_IMAGE, repository: "soak", tag, padding: 4096 });
    const cri = createCriClient({
      endpoint: node.containerd.endpoint,
      runtimeRequestTimeoutMs: 30_000,
      clock: systemClock,
    });
    await using activities = new Activities([
      new Followers(node, WRITERS),
      new Execs(node, WRITERS),
      new Scrapes(node),
      new Resizes(cluster.api),
      new ConfigChanges(cluster.api),
      new Jobs(cluster.api),
      new Pulls(cluster.api, registry, cri, TAGS),
      new RuntimeKills(node.containerd),
    ]);
    const samples: SoakSample[] = [];
    let steps = 0;
    const step = async (until: number): Promise<void> => {
      for (; performance.now() < until; steps++) {
        await churn.step();
        await sleep(random() * PAUSE_MS);
      }
    };
    const startedAt = performance.now();
    using inspected = await InspectedProcess.open(node.kubelet.pid ?? 0);
    let saved = false;
    for (let elapsed = 0; elapsed < minutes;) {
      const until = performance.now() + ROUND_MS;
      await Promise.all([step(until), ...activities.rounds.map((one) => one.goOn(until))]);
      await settle(churn, () => node.kubelet.pods());
      elapsed = (performance.now() - startedAt) / 60_000;
      if (elapsed >= fromOf(minutes) && !saved) {
        await saveSnapshots(inspected);
        saved = true;
      }
      samples.push(await takeSample(elapsed, inspected, () => node.usage()));
    }
    await saveSnapshots(inspected);
    for (const name of churn.names) await churn.remove(name);
    await settle(churn, () => node.kubelet.pods());
    cri.close();
    return { seed, steps, activities: activities.results(), samples, ...verdict(samples, minutes) };
  } finally {
    await node.stop();
  }
}

async function settle(churn: Churn, pods: () => Promise<PodView[]>): Promise<void> {
  let problem = "";
  const ofFiles = async (): Promise<PodView[]> =>
    (await pods()).filter(({ metadata }) => /^k\d+-bench$/.test(metadata.name));
  await waitFor(async () => (problem = churn.problem(await ofFiles())) === "", {
    what: "the pods to be as ordered",
    timeoutMs: SETTLE_MS,
    intervalMs: 200,
    lastSeen: () => problem,
  });
  churn.settled();
}

/**
 * Heap snapshots of all threads, into the folder that `NODELET_BENCH_SOAK_SNAPSHOTS` names: where the fit begins and at
 * the end. They take memory: such a run tells what grows, not how much.
 */
async function saveSnapshots(inspected: InspectedProcess): Promise<void> {
  const folder = process.env["NODELET_BENCH_SOAK_SNAPSHOTS"];
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  for (const name of (await inspected.memory(true)).keys()) {
    await inspected.writeSnapshot(name, join(folder, `${name.replaceAll("/", "-")}-${Date.now()}.heapsnapshot`));
  }
}
