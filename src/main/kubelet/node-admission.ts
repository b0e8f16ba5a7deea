// Admission of this node: the facts of machine, settings and runtime for the admit handlers.

import { statfs } from "node:fs/promises";
import { release } from "node:os";
import { goPlatform } from "../../shared/base/text/go-platform.js";
import type { Node } from "../../shared/kubernetes/api/node.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { CriClient } from "../../shared/kubernetes/cri/client.js";
import { moduleLogger } from "../../shared/telemetry/log/logger.js";
import type { Membership } from "../cluster/membership.js";
import { featuresToRun, USER_NAMESPACES_HOST_NETWORK } from "../model/declared-features.js";
import type { EventRecorder } from "../model/event-recorder.js";
import { appArmorProblem } from "../pods/admission/app-armor.js";
import type { AdmissionNode } from "../pods/admission/handler.js";
import { admissionMetrics } from "../pods/admission/metrics.js";
import { NodeAdmission } from "../pods/admission/node-admission.js";
import { withNodeObject } from "../pods/admission/node-from-api.js";
import type { PodState } from "../pods/sync/pod-state.js";
import type { ResourceManagers } from "../resources/assignment/resource-manager.js";
import type { NodeDevices } from "../resources/devices/node-devices.js";
import type { NodePressures } from "../resources/eviction/pressures.js";
import { checkReserved, evictionSetAside, reservedOf } from "../resources/node-allocatable/reserved.js";
import {
  evictionReserve,
  hugePagePools,
  nodeAllocatable,
  nodeCapacity,
  podCapacity,
  type NodeResources,
} from "../resources/node-capacity.js";
import type { NodeResourcesHolder } from "../resources/node-resources.js";
import { hostHugePageSizes } from "../resources/page-sizes.js";
import type { AgentContext } from "./context.js";
import type { NodeSettings } from "./node-settings.js";
import type { ShutdownNotice } from "./node-shutdown.js";

export interface AdmissionParts {
  facts: AdmissionFacts;
  state: Pick<PodState, "events" | "pods" | "cluster">;
  cri: Pick<CriClient, "status">;
  events: EventRecorder;
  managers: ResourceManagers;
  devices: Pick<NodeDevices, "allocatable">;
  resources: Pick<NodeResourcesHolder, "allocatable">;
  pressures: Pick<NodePressures, "current">;
  /** Has this node's object in the API. Undefined stand-alone. */
  membership: Pick<Membership, "node" | "freshNode"> | undefined;
  shutdown: Pick<ShutdownNotice, "shuttingDown">;
}

/** Facts that do not change while the kubelet runs. */
export type AdmissionFacts = Omit<AdmissionNode, "supplementalGroupsPolicy" | "pressures"> & {
  capacity: NodeResources;
};

/** Reads the machine; independent of everything else at the start. @throws OperatorError */
export async function readAdmissionFacts(settings: NodeSettings): Promise<AdmissionFacts> {
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
    taints: settings.node.registerWithTaints,
    shuttingDown: false,
    kernel: [major, minor],
    allowedUnsafeSysctls: settings.runtime.allowedUnsafeSysctls,
    appArmorProblem: armorProblem,
    podLevelResources: settings.resources.podLevelResources,
    declaredFeatures: settings.resources.declaredFeatures,
  };
}

export function makeAdmission({ registry, log }: AgentContext, parts: AdmissionParts): NodeAdmission {
  const { facts, state, cri, events, managers, devices, resources, pressures, membership, shutdown } = parts;
  const node = async (object: Node | undefined, pod: Pod, signal: AbortSignal): Promise<AdmissionNode> => {
    const known = withNodeObject({ ...facts, allocatable: resources.allocatable }, object);
    return {
      ...known,
      pressures: pressures.current,
      shuttingDown: shutdown.shuttingDown,
      allocatable: devices.allocatable(pod, known.allocatable),
      supplementalGroupsPolicy: await strictGroups(cri, pod, signal),
      declaredFeatures: await featuresFor(pod, known.declaredFeatures, cri, signal),
    };
  };
  return new NodeAdmission({
    node: (pod, signal) => node(membership?.node(), pod, signal),
    freshNode:
      membership !== undefined
        ? async (pod: Pod, signal: AbortSignal) =>
            await node((await membership.freshNode(facts.name, signal)) ?? membership.node(), pod, signal)
        : undefined,
    apiStatus: (uid) => state.cluster?.statusOf(uid),
    events,
    log: moduleLogger(log, "admission"),
    fail: async (uid, failure) => {
      state.events.emit("failRequested", { uid, failure });
      await state.pods.get(uid)?.whenStopped();
    },
    managers,
    counters: admissionMetrics(registry),
  });
}

/** True if the runtime supports the groups that the pod names. Called only for pods that need it. */
async function strictGroups(
  cri: Pick<CriClient, "status">,
  pod: Pod,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  if (pod.spec.securityContext?.supplementalGroupsPolicy !== "Strict") return undefined;
  const { features } = await cri.status({ verbose: false }, { signal });
  return features?.supplementalGroupsPolicy ?? false;
}

/** Only a pod that needs a feature of the runtime causes the query. */
async function featuresFor(
  pod: Pod,
  declared: AdmissionNode["declaredFeatures"],
  cri: Pick<CriClient, "status">,
  signal: AbortSignal,
): Promise<AdmissionNode["declaredFeatures"]> {
  const ofRuntime = USER_NAMESPACES_HOST_NETWORK;
  if (declared?.includes(ofRuntime) !== true || !featuresToRun(pod).includes(ofRuntime)) return declared;
  const { features } = await cri.status({ verbose: false }, { signal });
  return features?.userNamespacesHostNetwork === true ? declared : declared.filter((name) => name !== ofRuntime);
}

async function resourcesOf(settings: NodeSettings): Promise<{ capacity: NodeResources; allocatable: NodeResources }> {
  const [disk, sizes] = await Promise.all([statfs(settings.rootDir, { bigint: true }), hostHugePageSizes()]);
  const capacity = nodeCapacity({
    cpuCount: settings.cpuCount,
    memoryBytes: settings.memoryBytes,
    storageBytes: disk.bsize * disk.blocks,
    maxPods: podCapacity(settings.resources.maxPods, settings.resources.podsPerCore, settings.cpuCount),
    hugePages: await hugePagePools(sizes),
  });
  const thresholds = evictionSetAside({
    ...settings.eviction,
    allocatableIgnoresEviction: settings.allocatableIgnoresEviction,
  });
  const reserved = reservedOf(settings.resources);
  checkReserved(capacity, reserved, (name, nanos) => evictionReserve(name, nanos, thresholds));
  return { capacity, allocatable: nodeAllocatable(capacity, [reserved.kube, reserved.system], thresholds) };
}
