// Admission as this node runs it: what the machine, the settings and the runtime say of the node, for the handlers.
import { statfs } from "node:fs/promises";
import { release } from "node:os";
import { parseCpuList } from "../../shared/api/cpu-list.js";
import type { Node } from "../../shared/api/node.js";
import type { Pod } from "../../shared/api/pod.js";
import { ZERO } from "../../shared/api/quantity.js";
import type { CriClient } from "../../shared/cri/client.js";
import { moduleLogger, type Logger } from "../../shared/log/logger.js";
import { withNodeObject } from "../admission/node-object.js";
import { admissionMetrics } from "../../shared/metrics/admission.js";
import { goPlatform } from "../../shared/metrics/node.js";
import type { ThreadRegistry } from "../../shared/metrics/thread-registry.js";
import { appArmorProblem } from "../admission/app-armor.js";
import type { AdmissionNode } from "../admission/handler.js";
import { NodeAdmission } from "../admission/node-admission.js";
import { parseEviction } from "../command/rules/parse-eviction.js";
import { parseReserved, type ReservedResources } from "../command/rules/parse-reserved.js";
import type { EventRecorder } from "../events/recorder.js";
import { hostHugePageSizes } from "../resources/huge-pages.js";
import {
  hugePagePools,
  nodeAllocatable,
  nodeCapacity,
  podCapacity,
  type NodeResources,
} from "../resources/node-capacity.js";
import type { PodFailure } from "../status/compute-pod-status.js";
import type { NodeSettings } from "./node-settings.js";

export interface NodeAdmissionParts {
  cri: Pick<CriClient, "status">;
  events: EventRecorder;
  registry: ThreadRegistry;
  log: Logger;
  fail: (uid: string, failure: PodFailure) => Promise<void>;
  /** This node as the API server has it; undefined stand-alone, and before it was seen. */
  object?: () => Node | undefined;
  /** The same, asked for now; undefined when it can't be had. */
  freshObject?: (signal: AbortSignal) => Promise<Node | undefined>;
  /** The machine is about to go down. */
  shuttingDown?: () => boolean;
}

/** What does not change while the agent runs. */
export type StandingFacts = Omit<AdmissionNode, "supplementalGroupsPolicy"> & { capacity: NodeResources };

/** Looks at the machine; independent of everything else at the start. */
export async function admissionFacts(settings: NodeSettings): Promise<StandingFacts> {
  const [{ capacity, allocatable }, armorProblem] = await Promise.all([resourcesOf(settings), appArmorProblem()]);
  const [major = 0, minor = 0] = release().split(".").map(Number);
  const [os = "linux", arch = ""] = goPlatform().split("/");
  return {
    name: settings.nodeName,
    labels: {
      ...settings.nodeLabels,
      "kubernetes.io/hostname": settings.nodeName,
      "kubernetes.io/os": os,
      "kubernetes.io/arch": arch,
    },
    capacity,
    allocatable,
    taints: settings.registerWithTaints,
    pressures: [],
    shuttingDown: false,
    kernel: [major, minor],
    allowedUnsafeSysctls: settings.allowedUnsafeSysctls,
    appArmorProblem: armorProblem,
    podLevelResources: settings.podLevelResources,
  };
}

export function nodeAdmission(standing: StandingFacts, parts: NodeAdmissionParts): NodeAdmission {
  const { cri, events, registry, fail, freshObject } = parts;
  const node = async (object: Node | undefined, pod: Pod, signal: AbortSignal): Promise<AdmissionNode> => ({
    ...withNodeObject(standing, object),
    shuttingDown: parts.shuttingDown?.() ?? false,
    supplementalGroupsPolicy: await strictGroups(cri, pod, signal),
  });
  return new NodeAdmission({
    node: (pod, signal) => node(parts.object?.(), pod, signal),
    ...(freshObject !== undefined && {
      freshNode: async (pod: Pod, signal: AbortSignal) =>
        await node((await freshObject(signal)) ?? parts.object?.(), pod, signal),
    }),
    events,
    log: moduleLogger(parts.log, "admission"),
    fail,
    counters: admissionMetrics(registry),
  });
}

/** Can the runtime keep to the groups that the pod names? Asked for only by pods that need to know. */
async function strictGroups(
  cri: Pick<CriClient, "status">,
  pod: Pod,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  if (pod.spec.securityContext?.supplementalGroupsPolicy !== "Strict") return undefined;
  const { features } = await cri.status({ verbose: false }, { signal });
  return features?.supplementalGroupsPolicy ?? false;
}

async function resourcesOf(settings: NodeSettings): Promise<{ capacity: NodeResources; allocatable: NodeResources }> {
  const [disk, sizes] = await Promise.all([statfs(settings.rootDir, { bigint: true }), hostHugePageSizes()]);
  const capacity = nodeCapacity({
    cpuCount: settings.cpuCount,
    memoryBytes: settings.memoryBytes,
    storageBytes: disk.bsize * disk.blocks,
    maxPods: podCapacity(settings.maxPods, settings.podsPerCore, settings.cpuCount),
    hugePages: await hugePagePools(sizes),
  });
  const { kubeReserved, systemReserved, evictionHard, reservedSystemCPUs } = settings;
  // Validation has refused what can't be read.
  const { thresholds } = parseEviction({ evictionHard });
  const kube = parseReserved("kubeReserved", kubeReserved).resources;
  const system = parseReserved("systemReserved", systemReserved).resources;
  const cpus = parseCpuList(reservedSystemCPUs) ?? [];
  if (cpus.length === 0) return { capacity, allocatable: nodeAllocatable(capacity, [kube, system], thresholds) };
  // A list of CPUs takes the place of both amounts.
  const listed = { nanos: BigInt(cpus.length) * 1_000_000_000n, format: "DecimalSI" as const };
  const reserved = [withoutCpu(kube), withoutCpu(system), { cpu: listed }];
  return { capacity, allocatable: nodeAllocatable(capacity, reserved, thresholds) };
}

function withoutCpu(reserved: ReservedResources): ReservedResources {
  return { ...reserved, cpu: ZERO };
}
