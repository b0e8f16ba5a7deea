// The kubelet's processor time in bursts of starts and ends of pods, with API server and runtime in memory. Writes a
// CPU profile of each thread, a table of its most expensive functions, and a flame picture per thread in
// bench/results/flame.

import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Labels } from "../flame/labels.js";
import { flamePicture } from "../flame/picture.js";
import { ownTimes, stacksOf, type CpuProfile, type Frame } from "../flame/stacks.js";
import { InspectedProcess } from "../lib/inspected-process.js";
import { withMemoryCluster } from "../lib/memory-cluster.js";
import { benchFolder } from "../lib/places.js";
import { readableKubelet } from "../lib/readable-bundle.js";
import type { Section } from "../lib/section.js";
import { round } from "../lib/stats.js";

interface ProfiledThread {
  burst: number;
  thread: string;
  /** Milliseconds of processor time per pod: starts and ends. */
  busyMs: number;
  top: { name: string; ms: number }[];
}

const PICTURES = fileURLToPath(new URL("../../../bench/results/flame/", import.meta.url));
const BURSTS = [30, 100];
const SAMPLE_US = 250;
const SHOWN = 12;
/** A thread that did less has no picture: ms per pod. */
const LEAST_MS = 0.3;

export const profileSection: Section<ProfiledThread[]> = {
  name: "profile",
  run: benchProfile,
  report: (threads) => [
    {
      title: "Processor time per pod started and ended, by thread (ms, with the profiler)",
      head: ["thread, size of the burst", "busy"],
      rows: threads.map(({ thread, burst, busyMs }) => [`${thread}, ${burst}`, busyMs]),
    },
    ...threads.map(({ thread, burst, top, busyMs }) => ({
      title: `${thread}, burst of ${burst}: functions by their own time (µs per pod)`,
      head: ["function", "µs", "%"],
      rows: top.map(({ name, ms }) => [name, Math.round(ms * 1000), round((100 * ms) / busyMs)]),
    })),
  ],
};

async function benchProfile(): Promise<ProfiledThread[]> {
  await mkdir(PICTURES, { recursive: true });
  for (const name of await readdir(PICTURES)) if (name.endsWith(".svg")) await rm(join(PICTURES, name));
  const config = { logging: { format: "text" } };
  const place = { base: benchFolder("profile"), port: 21_260, entry: await readableKubelet() };
  return await withMemoryCluster({ ...place, config }, async (cluster) => {
    await cluster.end(await cluster.start(10)); // warm-up, not counted
    using inspected = await InspectedProcess.open(cluster.kubelet.pid ?? 0);
    const found: ProfiledThread[] = [];
    const labels = new Labels();
    for (const burst of BURSTS) {
      await inspected.askAll("Profiler.enable");
      await inspected.askAll("Profiler.setSamplingInterval", { interval: SAMPLE_US });
      await inspected.askAll("Profiler.start");
      await cluster.end(await cluster.start(burst));
      const answers = await inspected.askAll("Profiler.stop");
      for (const [thread, profiles] of answers) {
        for (const { profile } of profiles) {
          const stacks = stacksOf(profile as CpuProfile, (frame) => labels.of(frame));
          const row = summed(thread, burst, stacks);
          if (row.busyMs < LEAST_MS) continue;
          found.push(row);
          const title = `${thread}: ${burst} pods start and end, Node ${process.version}, ${row.busyMs} ms per pod`;
          await writeFile(join(PICTURES, `${thread}-${burst}.svg`), flamePicture(title, stacks));
        }
      }
    }
    return found;
  });
}

function summed(thread: string, burst: number, stacks: Frame): ProfiledThread {
  const top = ownTimes(stacks)
    .slice(0, SHOWN)
    .map(({ name, selfMs }) => ({ name, ms: selfMs / burst }));
  return { thread, burst, busyMs: round(stacks.totalMs / burst), top };
}
