// docker's one-shot statistics of running containers, and what CRI shows of them.
// Invariant: a bounded number of requests at once, however many containers there are.

import { totalmem } from "node:os";
import type Docker from "dockerode";
import { mapAtMost } from "../../../shared/base/turns/map-at-most.js";
import type { Container, ContainerStats } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { request } from "../engine/engine.js";
import { isNotFound } from "../fault.js";
import type { Shim } from "../shim.js";

const AT_ONCE = 8;

/** The results in order; undefined ones are left out. */
export async function someAtOnce<T, R>(all: readonly T[], work: (one: T) => Promise<R | undefined>): Promise<R[]> {
  const results = await mapAtMost(AT_ONCE, all, work);
  return results.filter((one): one is R => one !== undefined);
}

/** undefined: the container was removed meanwhile. */
export async function sampleOf(
  { engine }: Shim,
  id: string,
  signal: AbortSignal,
): Promise<Docker.ContainerStats | undefined> {
  try {
    return await engine.call(signal, (docker, abort) => {
      const query = { stream: false, "one-shot": true };
      return docker.getContainer(id).stats({ ...request(abort, query), stream: false });
    });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** CPU use now, from two samples. One container's memory is its last sample. */
export class CpuRates {
  private readonly last = new Map<string, { at: bigint; total: bigint }>();

  /** Nanocores since the sample before; undefined: this is the first one, or the counter began again. */
  rate(id: string, at: bigint, total: bigint): bigint | undefined {
    const before = this.last.get(id);
    this.last.set(id, { at, total });
    if (before === undefined || at <= before.at || total < before.total) return undefined;
    return ((total - before.total) * 1_000_000_000n) / (at - before.at);
  }

  /** Forgets all others. */
  retain(ids: ReadonlySet<string>): void {
    for (const id of this.last.keys()) if (!ids.has(id)) this.last.delete(id);
  }
}

interface StatsContext {
  /** Nanoseconds since the epoch. */
  now: bigint;
  /** The Engine's root directory. */
  mountpoint: string;
  layerBytes: number;
}

/** Pure. The names of memory's parts are those of cgroup v1 or v2. */
export function criStats(
  { id, metadata, labels, annotations }: Container,
  sample: Sample,
  context: StatsContext,
): ContainerStats {
  const { now, mountpoint, layerBytes } = context;
  const memory = sample.memory_stats;
  const parts: Readonly<Record<string, number | undefined>> = { ...memory?.stats };
  const bytes = memory?.usage;
  const inactive = parts["total_inactive_file"] ?? parts["inactive_file"] ?? 0;
  const swap = parts["total_swap"] ?? parts["swap"];
  const limit = memory?.limit;
  const workingSet = bytes === undefined ? undefined : Math.max(bytes - inactive, 0);
  return {
    attributes: { id, metadata, labels, annotations },
    cpu: {
      timestamp: now,
      usageCoreNanoSeconds: value(sample.cpu_stats?.cpu_usage?.total_usage),
      usageNanoCores: undefined,
      psi: undefined,
    },
    memory: {
      timestamp: now,
      workingSetBytes: value(workingSet),
      availableBytes:
        workingSet === undefined || limit === undefined || limit >= MACHINE_BYTES
          ? undefined
          : value(Math.max(limit - workingSet, 0)),
      usageBytes: value(bytes),
      rssBytes: value(parts["total_rss"] ?? parts["anon"]),
      pageFaults: value(parts["total_pgfault"] ?? parts["pgfault"]),
      majorPageFaults: value(parts["total_pgmajfault"] ?? parts["pgmajfault"]),
      psi: undefined,
    },
    writableLayer: {
      timestamp: now,
      fsId: { mountpoint },
      usedBytes: value(layerBytes),
      // The Engine does not count them.
      inodesUsed: undefined,
    },
    swap:
      swap === undefined ? undefined : { timestamp: now, swapUsageBytes: value(swap), swapAvailableBytes: undefined },
    io: undefined,
  };
}

/** The members that count; a container that exits during the sample has none of them. */
interface Sample {
  cpu_stats?: { cpu_usage?: { total_usage?: number } };
  memory_stats?: { usage?: number; limit?: number; stats?: object };
}

/** The Engine shows the machine's memory where a container has no limit. */
const MACHINE_BYTES = totalmem();

export function value(number: number | undefined): { value: bigint } | undefined {
  return number === undefined ? undefined : { value: BigInt(Math.trunc(number)) };
}
