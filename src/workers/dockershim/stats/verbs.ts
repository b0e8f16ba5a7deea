// Usage of containers and pods: CPU and memory by docker's one-shot statistics, the writable layer by its sizes, pods by their cgroups.
import type Docker from "dockerode";
import {
  ContainerState,
  type ContainerStats,
  type PodSandboxStats,
  type PodSandboxStatsFilter,
} from "../../../shared/cri/gen/runtime.v1.js";
import type { CgroupReader } from "../../../shared/stats/cgroup-figures.js";
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
  private cgroups: Promise<CgroupReader> | undefined;

  constructor(private readonly shim: Shim) {}

  /** Of the running containers of Kubernetes that docker's filters leave. */
  async containers(filters: Record<string, string[]>, signal: AbortSignal): Promise<SampledContainer[]> {
    const { shim } = this;
    const wanted = { ...filters, label: [...(filters["label"] ?? []), `${TYPE_LABEL}=container`] };
    const found: (Docker.ContainerInfo & { SizeRw?: number })[] = answered(
      "containers",
      await shim.engine.call(signal, (docker, abort) =>
        docker.listContainers(request(abort, { size: true, filters: wanted })),
      ),
    );
    const { DockerRootDir: mountpoint } = await shim.info(signal);
    const running = found
      .flatMap((sized) => shim.ifKubernetes(() => ({ sized, container: listedContainer(sized) })))
      .filter(({ container }) => container.state === ContainerState.CONTAINER_RUNNING);
    if (Object.keys(filters).length === 0) this.containerRates.retain(new Set(running.map(({ sized }) => sized.Id)));
    return someAtOnce(running, async ({ sized, container }) => {
      const sample = await sampleOf(shim, container.id, signal);
      const now = shim.clock.nowNanos();
      // The Engine leaves out a size of 0.
      const stats = sample && criStats(container, sample, { now, mountpoint, layerBytes: sized.SizeRw ?? 0 });
      if (stats === undefined) return undefined;
      withRate(stats, this.containerRates, container.id);
      return { container, stats };
    });
  }

  /** Of the sandboxes that run. */
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

function statsOf({ stats }: SampledContainer): ContainerStats {
  return stats;
}

/** Adds the use of CPU since the sample before. */
function withRate({ cpu }: Pick<ContainerStats, "cpu">, rates: CpuRates, id: string): void {
  if (cpu?.usageCoreNanoSeconds === undefined) return;
  const rate = rates.rate(id, cpu.timestamp, cpu.usageCoreNanoSeconds.value);
  if (rate !== undefined) cpu.usageNanoCores = { value: rate };
}
