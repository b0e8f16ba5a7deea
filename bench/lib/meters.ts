// Counters for the start or end of pods. A meter starts to count and returns a function that ends it.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FakeApi } from "../../test/fake-api/fake-api.js";
import type { CountingRuntime } from "./counting-runtime.js";
import type { InspectedProcess } from "./inspected-process.js";
import { allocationOf } from "./inspected-work.js";
import type { NodeUnderTest } from "./node-under-test.js";
import { contextSwitchesOf, usageOf } from "./process-usage.js";
import { SystemCallCount } from "./system-calls.js";

/** Label of a row to its figure. */
export type Counts = ReadonlyMap<string, number>;

export type Meter = () => Promise<() => Promise<Counts>>;

/** All that can be counted without slowing the kubelet down. */
export function outsideMeter(
  node: NodeUnderTest,
  { api, user, runtime }: { api: FakeApi; user: string; runtime: CountingRuntime },
): Meter {
  const look = async (): Promise<Counts> => {
    const pid = node.kubelet.pid ?? 0;
    const { cpuSeconds } = await usageOf(pid);
    const counts = new Map<string, number>([
      ["CPU ms", cpuSeconds * 1000],
      ["sleeps of threads (voluntary context switches)", await contextSwitchesOf(pid)],
    ]);
    for (const [verb, calls] of runtime.calls) counts.set(`CRI ${verb}`, calls);
    for (const { verb, resource, subresource } of api.calls.matching({ user })) {
      const label = `API ${verb} ${resource}${subresource === "" ? "" : `/${subresource}`}`;
      counts.set(label, (counts.get(label) ?? 0) + 1);
    }
    const log = await readFile(node.kubelet.log, "utf8");
    counts.set("log lines", log.split("\n").length - 1);
    for (const [queue, pushed] of await node.queued()) counts.set(`records ${queue}`, pushed);
    return counts;
  };
  return async () => {
    const before = await look();
    return async () => difference(before, await look());
  };
}

/** `output`: a file of its own. */
export function systemCallMeter(node: NodeUnderTest, directory: string): Meter {
  return async () => {
    const count = await SystemCallCount.start(node.kubelet.pid ?? 0, join(directory, "strace"));
    return () => count.stop();
  };
}

export function memoryMeter(inspected: InspectedProcess): Meter {
  return async () => {
    const stop = await allocationOf(inspected);
    return async () => {
      const counts = new Map<string, number>();
      for (const [thread, { kib, collections, collectionMs }] of await stop()) {
        counts.set(`KiB allocated by ${thread}`, kib);
        counts.set("garbage collections", (counts.get("garbage collections") ?? 0) + collections);
        counts.set("garbage collection ms", (counts.get("garbage collection ms") ?? 0) + collectionMs);
      }
      return counts;
    };
  };
}

function difference(before: Counts, after: Counts): Counts {
  return new Map([...after].map(([label, count]) => [label, count - (before.get(label) ?? 0)]));
}
