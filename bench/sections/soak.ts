// A churn of pods of all shapes for half an hour: does the agent stay as it is? Memory, open files and threads are looked
// at whenever everything is as ordered, so that the samples compare.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { BUSYBOX_IMAGE } from "../../packaging/standalone/images.js";
import type { PodView } from "../../packaging/standalone/pods.js";
import { sleep, waitFor } from "../../packaging/standalone/wait.js";
import { aliases, Churn } from "../../test/support/churn.js";
import { chosenSeed, randomFrom } from "../../test/support/seeded-random.js";
import { startNodeUnderTest } from "../lib/node-under-test.js";
import type { Usage } from "../lib/process-usage.js";
import { round, slope } from "../lib/stats.js";

export interface SoakSample extends Usage {
  minutes: number;
  pods: number;
}

export interface SoakResult {
  seed: number;
  steps: number;
  samples: SoakSample[];
  /** Least squares over the second half: what the first pods make the agent load and compile is no leak. */
  perHour: { rssMiB: number; openFiles: number; threads: number };
}

const SLOTS = 30;
const STEPS_PER_ROUND = 10;
const PAUSE_MS = 500;
const SETTLE_MS = 180_000;

/** `NODELET_BENCH_SOAK_MINUTES`, half an hour unless it is set. */
export function soakMinutes(): number {
  const minutes = Number(process.env["NODELET_BENCH_SOAK_MINUTES"] ?? 30);
  if (!(minutes > 0))
    throw new Error("NODELET_BENCH_SOAK_MINUTES is not a number above 0: set the minutes of the soak");
  return minutes;
}

export async function benchSoak(minutes: number): Promise<SoakResult> {
  const node = await startNodeUnderTest("/run/nodelet-soak", {
    crashLoopBackOff: { maxContainerRestartPeriod: "1s" },
  });
  try {
    const seed = chosenSeed();
    const random = randomFrom(seed);
    const ctl = join(node.kubelet.dir, "ctl");
    await mkdir(ctl);
    const churn = new Churn({
      put: async (name, pod) => {
        await node.manifests.put(name, pod);
      },
      remove: async (name) => {
        await node.manifests.remove(name);
      },
      images: await aliases(node.containerd.endpoint, BUSYBOX_IMAGE),
      ...{ ctl, nodeName: "bench", random, slots: SLOTS },
    });
    for (const name of churn.names) await churn.put(name);
    const samples: SoakSample[] = [];
    const startedAt = performance.now();
    const elapsed = (): number => (performance.now() - startedAt) / 60_000;
    let steps = 0;
    for (;;) {
      await settle(churn, () => node.kubelet.pods());
      const usage = await node.usage();
      samples.push({ minutes: Math.round(elapsed() * 100) / 100, pods: churn.instances.size, ...usage });
      if (elapsed() >= minutes) break;
      for (let step = 0; step < STEPS_PER_ROUND; step++, steps++) {
        await churn.step();
        await sleep(random() * PAUSE_MS);
      }
    }
    for (const name of churn.names) await churn.remove(name);
    await settle(churn, () => node.kubelet.pods());
    const later = samples.filter((sample) => sample.minutes >= elapsed() / 2);
    const perHour = (key: "rssMiB" | "openFiles" | "threads"): number =>
      round(60 * slope(later.map((sample) => [sample.minutes, sample[key]] as const)));
    return {
      ...{ seed, steps, samples },
      perHour: { rssMiB: perHour("rssMiB"), openFiles: perHour("openFiles"), threads: perHour("threads") },
    };
  } finally {
    await node.stop();
  }
}

async function settle(churn: Churn, pods: () => Promise<PodView[]>): Promise<void> {
  let problem = "";
  await waitFor(async () => (problem = churn.problem(await pods())) === "", {
    what: "the pods to be as ordered",
    timeoutMs: SETTLE_MS,
    intervalMs: 200,
    lastSeen: () => problem,
  });
  churn.settled();
}

/** Some of the samples, evenly, first and last among them. */
export function shownSamples(samples: readonly SoakSample[], count = 12): SoakSample[] {
  const last = samples.length - 1;
  const indexes = Array.from({ length: count }, (_, index) => Math.round((index * last) / (count - 1)));
  return [...new Set(indexes)].flatMap((index) => samples[index] ?? []);
}
