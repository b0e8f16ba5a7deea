// Usage of containers: CPU and memory by docker's one-shot statistics, the writable layer by its sizes.
// Invariant: a bounded number of requests at once, however many containers there are.
import type Docker from "dockerode";
import type { ContainerStats, Container } from "../../../shared/cri/gen/runtime.v1.js";
import { ContainerState } from "../../../shared/cri/gen/runtime.v1.js";
import type { Verbs } from "../call.js";
import { listedContainer } from "../containers/status.js";
import { request } from "../engine/engine.js";
import { Fault, isNotFound } from "../fault.js";
import { TYPE_LABEL } from "../names.js";
import type { Shim } from "../shim.js";

const AT_ONCE = 8;

type Sized = Docker.ContainerInfo & { SizeRw?: number };

export function statsVerbs(shim: Shim): Verbs<"containerStats" | "listContainerStats"> {
  return {
    async containerStats({ containerId }, signal) {
      const [stats] = await usage(shim, { id: [containerId] }, signal);
      if (stats === undefined) throw new Fault("NOT_FOUND", `no running container ${JSON.stringify(containerId)}`);
      return { stats };
    },

    async listContainerStats({ filter }, signal) {
      const labels = Object.entries(filter?.labelSelector ?? {}).map(([key, value]) => `${key}=${value}`);
      const stats = await usage(
        shim,
        { label: labels, ...(filter !== undefined && filter.id !== "" && { id: [filter.id] }) },
        signal,
        filter?.podSandboxId,
      );
      return { stats };
    },
  };
}

/** Of the running containers of Kubernetes that the filters leave. */
async function usage(
  shim: Shim,
  filters: Record<string, string[]>,
  signal: AbortSignal,
  sandboxId = "",
): Promise<ContainerStats[]> {
  const wanted = { ...filters, label: [...(filters["label"] ?? []), `${TYPE_LABEL}=container`] };
  const found: Sized[] = await shim.engine.call(signal, (docker, abort) =>
    docker.listContainers(request(abort, { size: true, filters: wanted })),
  );
  const { DockerRootDir } = await shim.info(signal);
  const all = found.flatMap((sized) => shim.ifKubernetes(() => ({ sized, container: listedContainer(sized) })));
  const left = all.filter(
    ({ container }) =>
      container.state === ContainerState.CONTAINER_RUNNING &&
      (sandboxId === "" || container.podSandboxId === sandboxId),
  );
  const stats: ContainerStats[] = [];
  const work = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const sample = await sampleOf(shim, next.container.id, signal);
      const context = { now: shim.clock.nowNanos(), mountpoint: DockerRootDir, layerBytes: next.sized.SizeRw ?? 0 };
      if (sample !== undefined) stats.push(criStats(next.container, sample, context));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return stats;
}

/** undefined: the container was removed meanwhile. */
async function sampleOf({ engine }: Shim, id: string, signal: AbortSignal): Promise<Docker.ContainerStats | undefined> {
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

interface StatsContext {
  /** Nanoseconds since the epoch. */
  now: bigint;
  /** The Engine's root directory. */
  mountpoint: string;
  layerBytes: number;
}

/** Pure. The names of memory's parts are those of cgroup v1 or v2. @internal */
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
      workingSetBytes: value(bytes === undefined ? undefined : Math.max(bytes - inactive, 0)),
      availableBytes: undefined,
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
      inodesUsed: undefined,
    },
    swap: undefined,
    io: undefined,
  };
}

/** The members that count; a container that exits during the sample has none of them. */
interface Sample {
  cpu_stats?: { cpu_usage?: { total_usage?: number } };
  memory_stats?: { usage?: number; stats?: object };
}

function value(number: number | undefined): { value: bigint } | undefined {
  return number === undefined ? undefined : { value: BigInt(Math.trunc(number)) };
}
