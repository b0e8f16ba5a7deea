// Statistics and metrics: small plausible numbers for what runs; CPU time grows with the time since the start.

import {
  ContainerState,
  MetricType,
  type ContainerStats,
  type ContainerStatsFilter,
  type PodSandboxMetrics,
  type PodSandboxStats,
  type PodSandboxStatsFilter,
} from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { FakeSettings, FakeWorld, UnaryVerbs } from "../context.js";
import { matchesLabels } from "../filters.js";
import type { FakeContainer, FakeSandbox, FakeState } from "../state.js";

const MEMORY = 4n * 1024n * 1024n;

type StatsVerb =
  | "containerStats"
  | "listContainerStats"
  | "podSandboxStats"
  | "listPodSandboxStats"
  | "listMetricDescriptors"
  | "listPodSandboxMetrics";

export function statsVerbs({ state, settings }: FakeWorld): UnaryVerbs<StatsVerb> {
  return {
    containerStats: ({ containerId }) => ({ stats: statsOf(state, state.container(containerId)) }),
    listContainerStats: ({ filter }) => ({ stats: listContainerStats(state, filter, settings.layerOf) }),
    podSandboxStats: ({ podSandboxId }) => ({ stats: podStatsOf(state, state.sandbox(podSandboxId)) }),
    listPodSandboxStats: ({ filter }) => ({ stats: listPodStats(state, filter) }),
    listMetricDescriptors: () => ({
      descriptors: [{ name: "container_processes", help: "Processes in the container.", labelKeys: ["id"] }],
    }),
    listPodSandboxMetrics: () => ({ podMetrics: listPodMetrics(state) }),
  };
}

type LayerOf = FakeSettings["layerOf"];

const SMALL_LAYER = { bytes: 4096, inodes: 1 };

function statsOf(state: FakeState, container: FakeContainer, layerOf?: LayerOf): ContainerStats {
  const { status } = container;
  const layer = layerOf?.(container) ?? SMALL_LAYER;
  const { id, metadata, labels, annotations } = status;
  const timestamp = state.nanos();
  const runs = status.state === ContainerState.CONTAINER_RUNNING;
  const memory = { value: runs ? MEMORY : 0n };
  return {
    attributes: { id, metadata, labels, annotations },
    cpu: {
      timestamp,
      usageCoreNanoSeconds: { value: runs ? (timestamp - status.startedAt) / 100n : 0n },
      usageNanoCores: { value: runs ? 10_000_000n : 0n },
      psi: undefined,
    },
    memory: {
      timestamp,
      workingSetBytes: memory,
      availableBytes: { value: 0n },
      usageBytes: memory,
      rssBytes: memory,
      pageFaults: { value: 0n },
      majorPageFaults: { value: 0n },
      psi: undefined,
    },
    writableLayer: {
      timestamp,
      fsId: { mountpoint: "/var/lib/fake-cri" },
      usedBytes: { value: BigInt(layer.bytes) },
      inodesUsed: { value: BigInt(layer.inodes) },
    },
    swap: undefined,
    io: undefined,
  };
}

export function listContainerStats(
  state: FakeState,
  filter: ContainerStatsFilter | undefined,
  layerOf?: LayerOf,
): ContainerStats[] {
  const all: ContainerStats[] = [];
  for (const container of state.containers.values()) {
    if (filter !== undefined) {
      if (filter.id !== "" && !container.status.id.startsWith(filter.id)) continue;
      if (filter.podSandboxId !== "" && !container.sandboxId.startsWith(filter.podSandboxId)) continue;
      if (!matchesLabels(container.status.labels, filter.labelSelector)) continue;
    }
    all.push(statsOf(state, container, layerOf));
  }
  return all;
}

function podStatsOf(state: FakeState, { status, containers }: FakeSandbox): PodSandboxStats {
  const { id, metadata, labels, annotations } = status;
  const stats = [...containers].flatMap((containerId) => {
    const container = state.containers.get(containerId);
    return container === undefined ? [] : [statsOf(state, container)];
  });
  const timestamp = state.nanos();
  return {
    attributes: { id, metadata, labels, annotations },
    linux: {
      cpu: {
        timestamp,
        usageCoreNanoSeconds: { value: sum(stats.map((one) => one.cpu?.usageCoreNanoSeconds?.value)) },
        usageNanoCores: { value: sum(stats.map((one) => one.cpu?.usageNanoCores?.value)) },
        psi: undefined,
      },
      memory: {
        timestamp,
        workingSetBytes: { value: sum(stats.map((one) => one.memory?.workingSetBytes?.value)) },
        availableBytes: undefined,
        usageBytes: undefined,
        rssBytes: undefined,
        pageFaults: undefined,
        majorPageFaults: undefined,
        psi: undefined,
      },
      network: undefined,
      process: { timestamp, processCount: { value: BigInt(stats.length + 1) } },
      containers: stats,
      io: undefined,
    },
    windows: undefined,
  };
}

function sum(values: (bigint | undefined)[]): bigint {
  return values.reduce((total: bigint, value) => total + (value ?? 0n), 0n);
}

export function listPodStats(state: FakeState, filter: PodSandboxStatsFilter | undefined): PodSandboxStats[] {
  const all: PodSandboxStats[] = [];
  for (const sandbox of state.sandboxes.values()) {
    if (filter !== undefined) {
      if (filter.id !== "" && !sandbox.status.id.startsWith(filter.id)) continue;
      if (!matchesLabels(sandbox.status.labels, filter.labelSelector)) continue;
    }
    all.push(podStatsOf(state, sandbox));
  }
  return all;
}

export function listPodMetrics(state: FakeState): PodSandboxMetrics[] {
  return [...state.sandboxes.values()].map(({ status, containers }) => ({
    podSandboxId: status.id,
    metrics: [],
    containerMetrics: [...containers].map((containerId) => ({
      containerId,
      metrics: [
        {
          name: "container_processes",
          timestamp: state.nanos(),
          metricType: MetricType.GAUGE,
          labelValues: [containerId],
          value: { value: 1n },
        },
      ],
    })),
  }));
}
