// Usage of containers and pods. Docker's one-shot statistics give CPU and memory, blocks the writable layers, cgroups
// the pods.

import type Docker from "dockerode";
import {
  ContainerState,
  type ContainerStats,
  type PodSandboxStats,
  type PodSandboxStatsFilter,
} from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { CgroupReader } from "../../../shared/node/stats/cgroup-figures.js";
import type { Verbs } from "../call.js";
import { isHostNetworkMode } from "../containers/namespaces.js";
import { listedContainer } from "../containers/status.js";
import { answered } from "../engine/answers.js";
import { inspected, listed } from "../engine/containers.js";
import { request } from "../engine/engine.js";
import { Fault, isNotFound } from "../fault.js";
import { matchesId } from "../filters.js";
import { criLabels, sandboxMetadata, TYPE_LABEL } from "../names.js";
import type { Shim } from "../shim.js";
import { LayerSizes } from "./layer-sizes.js";
import { openCgroups, podUsage, type SampledContainer } from "./pod-usage.js";
import { CpuRates, criStats, sampleOf, someAtOnce } from "./samples.js";

type StatsVerb =
  | "containerStats"
  | "listContainerStats"
  | "podSandboxStats"
  | "listPodSandboxStats"
  | "listMetricDescriptors"
  | "listPodSandboxMetrics";

export function statsVerbs(shim: Shim): Verbs<StatsVerb> {
  const usage = new Usage(shim);
  return {
    async containerStats({ containerId }, signal) {
      const [found] = await usage.containers({ id: [containerId] }, signal);
      if (found === undefined) throw new Fault("NOT_FOUND", `no running container ${JSON.stringify(containerId)}`);
      return { stats: found.stats };
    },

    async listContainerStats({ filter }, signal) {
      const label = Object.entries(filter?.labelSelector ?? {}).map(([key, text]) => `${key}=${text}`);
      const id = filter === undefined || filter.id === "" ? {} : { id: [filter.id] };
      const found = await usage.containers({ label, ...id }, signal);
      const sandboxId = filter?.podSandboxId ?? "";
      return { stats: found.filter(({ container }) => matchesId(container.podSandboxId, sandboxId)).map(statsOf) };
    },

    async podSandboxStats({ podSandboxId }, signal) {
      await inspected(shim.engine, signal, podSandboxId, "podsandbox");
      const [stats] = await usage.pods({ id: podSandboxId, labelSelector: {} }, signal);
      if (stats === undefined) throw new Fault("NOT_FOUND", `no running sandbox ${JSON.stringify(podSandboxId)}`);
      return { stats };
    },

    listPodSandboxStats: async ({ filter }, signal) => ({
      stats: await usage.pods(filter ?? { id: "", labelSelector: {} }, signal),
    }),

    // The Engine has no series of its own: the kubelet reads the cgroups.
    listMetricDescriptors: () => Promise.resolve({ descriptors: [] }),
    listPodSandboxMetrics: () => Promise.resolve({ podMetrics: [] }),
  };
}

class Usage {
  private readonly containerRates = new CpuRates();
  private readonly podRates = new CpuRates();
  private readonly layerSizes: LayerSizes;
  private cgroups: Promise<CgroupReader> | undefined;

  constructor(private readonly shim: Shim) {
    const { clock, log } = shim;
    this.layerSizes = new LayerSizes({ clock, log, directoryOf: (id, signal) => layerDirectory(shim, id, signal) });
  }

  /** Samples the running containers of Kubernetes that match docker's filters. */
  async containers(filters: Record<string, string[]>, signal: AbortSignal): Promise<SampledContainer[]> {
    const { shim } = this;
    const wanted = { ...filters, label: [...(filters["label"] ?? []), `${TYPE_LABEL}=container`] };
    const found = await this.list(wanted, false, signal);
    const { DockerRootDir: mountpoint } = await shim.info(signal);
    const running = found
      .flatMap((one) => shim.ifKubernetes(() => listedContainer(one)))
      .filter(({ state }) => state === ContainerState.CONTAINER_RUNNING);
    const ids = running.map(({ id }) => id);
    if (Object.keys(filters).length === 0) {
      this.containerRates.retain(new Set(ids));
      this.layerSizes.retain(new Set(ids));
    }
    const sizes = await this.sizes(ids, signal);
    return someAtOnce(running, async (container) => {
      const sample = await sampleOf(shim, container.id, signal);
      const now = shim.clock.nowNanos();
      // The Engine leaves out a size of 0.
      const stats =
        sample && criStats(container, sample, { now, mountpoint, layerBytes: sizes.get(container.id) ?? 0 });
      if (stats === undefined) return undefined;
      withRate(stats, this.containerRates, container.id);
      return { container, stats };
    });
  }

  /** Returns the sizes of writable layers in bytes, by container. */
  private async sizes(ids: readonly string[], signal: AbortSignal): Promise<Map<string, number>> {
    const sizes = await this.layerSizes.of(ids, signal);
    const others = ids.filter((id) => !sizes.has(id));
    if (others.length === 0) return sizes;
    for (const { Id, SizeRw } of await this.list({ id: others }, true, signal)) sizes.set(Id, SizeRw ?? 0);
    return sizes;
  }

  private async list(
    filters: Record<string, string[]>,
    size: boolean,
    signal: AbortSignal,
  ): Promise<(Docker.ContainerInfo & { SizeRw?: number })[]> {
    const found = await this.shim.engine.call(signal, (docker, abort) =>
      docker.listContainers(request(abort, { size, filters })),
    );
    return answered("containers", found);
  }

  /** Returns statistics of the running sandboxes. */
  async pods({ id, labelSelector }: PodSandboxStatsFilter, signal: AbortSignal): Promise<PodSandboxStats[]> {
    const { shim } = this;
    const sandboxes = (await listed(shim.engine, signal, { type: "podsandbox", labels: labelSelector })).filter(
      ({ Id, State }) => State === "running" && matchesId(Id, id),
    );
    const containers = await this.containers({}, signal);
    const driver = await shim.cgroupDriver(signal);
    const reader = await (this.cgroups ??= openCgroups());
    const stats = await someAtOnce(sandboxes, async (sandbox) => {
      const found = await inspected(shim.engine, signal, sandbox.Id, "podsandbox").catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
      if (found === undefined) return undefined;
      const own = containers.filter(({ container }) => container.podSandboxId === sandbox.Id).map(statsOf);
      const place = {
        parent: found.HostConfig.CgroupParent ?? "",
        driver,
        pid: found.State.Pid,
        hostNetwork: isHostNetworkMode(found.HostConfig.NetworkMode),
      };
      const linux = podUsage(reader, place, own, shim.clock.nowNanos());
      withRate(linux, this.podRates, sandbox.Id);
      const [metadata] = shim.ifKubernetes(() => sandboxMetadata(found.Name));
      if (metadata === undefined) return undefined;
      return { attributes: { id: sandbox.Id, metadata, ...criLabels(sandbox.Labels) }, linux, windows: undefined };
    });
    if (id === "" && Object.keys(labelSelector).length === 0)
      this.podRates.retain(new Set(sandboxes.map(({ Id }) => Id)));
    return stats;
  }
}

/** That of the storage drivers overlay2 and fuse-overlayfs. */
async function layerDirectory({ engine }: Shim, id: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const found: object = await inspected(engine, signal, id, "container");
    // dockerode's types have the members of another driver.
    const directory = (found as { GraphDriver?: { Data?: { UpperDir?: unknown } | null } }).GraphDriver?.Data?.UpperDir;
    return typeof directory === "string" && directory.startsWith("/") ? directory : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function statsOf({ stats }: SampledContainer): ContainerStats {
  return stats;
}

/** Adds the use of CPU since the sample before. */
function withRate({ cpu }: Pick<ContainerStats, "cpu">, rates: CpuRates, id: string): void {
  if (cpu?.usageCoreNanoSeconds === undefined) return;
  const rate = rates.rate(id, cpu.timestamp, cpu.usageCoreNanoSeconds.value);
  if (rate !== undefined) cpu.usageNanoCores = { value: rate };
}
