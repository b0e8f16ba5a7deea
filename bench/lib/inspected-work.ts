// Work of V8 in a process: allocated bytes and garbage collections. Asked of the inspector, so only of a
// kubelet on Node.js.

import type { InspectedProcess } from "./inspected-process.js";

export interface Allocation {
  /** By sampling: an estimate. */
  kib: number;
  collections: number;
  collectionMs: number;
}

/** Bytes between two samples, on average. */
const SAMPLING_BYTES = 16_384;
const OBSERVE = `(() => {
  const { PerformanceObserver } = process.getBuiltinModule("node:perf_hooks");
  const seen = { count: 0, ms: 0 };
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) { seen.count++; seen.ms += duration; }
  });
  observer.observe({ entryTypes: ["gc"] });
  globalThis.benchCollections = { seen, observer };
})()`;
const COLLECTED = `(() => {
  const { seen, observer } = globalThis.benchCollections;
  observer.disconnect();
  delete globalThis.benchCollections;
  return JSON.stringify(seen);
})()`;

/** Begins to count. The returned function ends it: what the threads that were there at the start did, by name. */
export async function allocationOf(inspected: InspectedProcess): Promise<() => Promise<Map<string, Allocation>>> {
  const alsoFreed = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };
  await inspected.askAll("Runtime.evaluate", { expression: OBSERVE });
  await inspected.askAll("HeapProfiler.startSampling", { samplingInterval: SAMPLING_BYTES, ...alsoFreed });
  return async () => {
    const profiles = await inspected.askAll("HeapProfiler.stopSampling");
    const answers = await inspected.askAll("Runtime.evaluate", { expression: COLLECTED, returnByValue: true });
    return new Map([...profiles].map(([thread, found]) => [thread, allocation(found, answers.get(thread) ?? [])]));
  };
}

function allocation(profiles: readonly Answer[], answers: readonly Answer[]): Allocation {
  const bytes = profiles.reduce((sum, { profile }) => sum + bytesOf((profile as { head: ProfileNode }).head), 0);
  const seen = answers.map(
    ({ result }) => JSON.parse((result as { value: string }).value) as { count: number; ms: number },
  );
  return {
    kib: bytes / 1024,
    collections: seen.reduce((sum, { count }) => sum + count, 0),
    collectionMs: seen.reduce((sum, { ms }) => sum + ms, 0),
  };
}

type Answer = Record<string, unknown>;

interface ProfileNode {
  selfSize: number;
  children: ProfileNode[];
}

function bytesOf({ selfSize, children }: ProfileNode): number {
  return children.reduce((sum, child) => sum + bytesOf(child), selfSize);
}
