// nodelet devices: devices, exclusive CPUs and memory, held by containers or free, from the kubelet's pod resources
// API.

import { join } from "node:path";
import { messageOf } from "../../shared/base/errors/thrown.js";
import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import type {
  AllocatableResourcesResponse,
  PodResources,
} from "../../shared/kubernetes/plugins/gen/podresources.v1.js";
import type { Context } from "../context.js";
import { CliError, EXIT, type ExitCode } from "../errors.js";
import { bytes } from "../output/amounts.js";
import { print } from "../output/print.js";
import { table, wrap } from "../output/table.js";

const DEADLINE_MS = 10_000;

interface Device {
  resource: string;
  id: string;
  /** NUMA nodes. */
  nodes: number[];
  /** "namespace/pod container"; absent: free. */
  holder?: string;
}

interface Allocations {
  devices: Device[];
  cpus: { holder: string; cpus: number[] }[];
  freeCpus: number[];
  memory: { holder: string; type: string; bytes: number; nodes: number[] }[];
}

export async function devicesCommand(context: Context): Promise<ExitCode> {
  const { client, clock } = context;
  const { rootDir } = await client.json<NodeletStatus>("/nodelet/status");
  // They load gRPC.
  const [{ PluginConnection }, { PodResourcesListerService }] = await Promise.all([
    import("../../shared/kubernetes/plugins/connection.js"),
    import("../../shared/kubernetes/plugins/gen/podresources.v1.js"),
  ]);
  const socket = join(rootDir, "pod-resources", "kubelet.sock");
  const connection = new PluginConnection(socket, clock);
  try {
    const options = { timeoutMs: DEADLINE_MS };
    const [{ podResources }, allocatable] = await Promise.all([
      connection.call(PodResourcesListerService.list, {}, options),
      connection.call(PodResourcesListerService.getAllocatableResources, {}, options),
    ]);
    const allocations = allocationsOf(podResources, allocatable);
    await print(context, allocations, () => devicesText(context, allocations));
    return EXIT.fine;
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(
      EXIT.wrong,
      `the pod resources API at ${socket} did not respond: ${messageOf(error)}`,
      "only root may use it",
    );
  } finally {
    connection[Symbol.dispose]();
  }
}

/** @internal */
export function allocationsOf(pods: readonly PodResources[], allocatable: AllocatableResourcesResponse): Allocations {
  const containers = pods.flatMap(({ namespace, name, containers: all }) =>
    all.map((container) => ({ holder: `${namespace}/${name} ${container.name}`, container })),
  );
  const held = containers.flatMap(({ holder, container }) =>
    container.devices.flatMap(({ resourceName, deviceIds, topology }) =>
      deviceIds.map((id): Device => ({ resource: resourceName, id, nodes: nodesOf(topology), holder })),
    ),
  );
  const heldKeys = new Set(held.map(({ resource, id }) => `${resource} ${id}`));
  const free = allocatable.devices.flatMap(({ resourceName, deviceIds, topology }) =>
    deviceIds
      .filter((id) => !heldKeys.has(`${resourceName} ${id}`))
      .map((id): Device => ({ resource: resourceName, id, nodes: nodesOf(topology) })),
  );
  const cpus = containers
    .filter(({ container }) => container.cpuIds.length > 0)
    .map(({ holder, container }) => ({ holder, cpus: container.cpuIds.map(Number) }));
  const taken = new Set(cpus.flatMap((one) => one.cpus));
  return {
    devices: [...held, ...free].sort((a, b) => (`${a.resource} ${a.id}` < `${b.resource} ${b.id}` ? -1 : 1)),
    cpus,
    freeCpus: allocatable.cpuIds.map(Number).filter((cpu) => !taken.has(cpu)),
    memory: containers.flatMap(({ holder, container }) =>
      container.memory.map(({ memoryType, size, topology }) => ({
        holder,
        type: memoryType,
        bytes: Number(size),
        nodes: nodesOf(topology),
      })),
    ),
  };
}

/** @internal */
export function devicesText(
  { columns }: Pick<Context, "columns">,
  { devices, cpus, freeCpus, memory }: Allocations,
): string {
  const numa = ({ nodes }: { nodes: readonly number[] }): string => nodes.join(",") || "-";
  const parts = [
    devices.length === 0
      ? "no device plugin offers devices\n"
      : table(
          [
            { title: "RESOURCE", text: ({ resource }) => resource },
            { title: "DEVICE", text: ({ id }) => id },
            { title: "NUMA", text: numa },
            { title: "CONTAINER", text: ({ holder }) => holder ?? "free" },
          ],
          devices,
          columns,
        ),
    `${wrap(cpusText(cpus, freeCpus), columns)}\n`,
    ...(memory.length === 0
      ? []
      : [
          table(
            [
              { title: "MEMORY", text: ({ type }) => type },
              { title: "SIZE", text: (one) => bytes(one.bytes) },
              { title: "NUMA", text: numa },
              { title: "CONTAINER", text: ({ holder }) => holder },
            ],
            memory,
            columns,
          ),
        ]),
  ];
  return parts.join("\n");
}

function cpusText(cpus: Allocations["cpus"], free: readonly number[]): string {
  const held = cpus.map((one) => `${one.holder} (${ranges(one.cpus)})`).join(", ");
  return `exclusive CPUs: ${held || "none"}; others may use ${free.length === 0 ? "none of the allocatable" : ranges(free)}`;
}

function nodesOf(topology: { nodes: { ID: bigint }[] } | undefined): number[] {
  return (topology?.nodes ?? []).map(({ ID }) => Number(ID));
}

/** "0-3,8" */
function ranges(numbers: readonly number[]): string {
  const sorted = [...numbers].sort((a, b) => a - b);
  const parts: [number, number][] = [];
  for (const number of sorted) {
    const last = parts.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else parts.push([number, number]);
  }
  return parts.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(",");
}
