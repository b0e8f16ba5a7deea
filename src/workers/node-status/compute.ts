// Computes the wanted Node from the present one and all known facts. Pure: the same input, the same Node.
// Invariant: what others put there (extended resources, volumesAttached, their conditions and labels) stays.

import type { MonotonicTime, WallTime } from "../../shared/base/clock/moments.js";
import type { OperatorError } from "../../shared/base/errors/operator-error.js";
import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import type { NodeFacts, NodeStatusInit } from "../../shared/contracts/node-status.js";
import type { EventReason } from "../../shared/kubernetes/api/event-reasons.js";
import type { EventType } from "../../shared/kubernetes/api/event.js";
import type { ResourceList } from "../../shared/kubernetes/api/meta.js";
import type { Node, NodeStatus, NodeSystemInfo } from "../../shared/kubernetes/api/node.js";
import { apiTime } from "../../shared/kubernetes/api/time.js";
import { nodeAddresses, PROVIDED_IP, specifiedIPs, type HostNetwork } from "./addresses.js";
import { nextConditions, notReadyReasons } from "./conditions.js";
import { withConfigReport } from "./config-report.js";
import type { KubeletHealth } from "./health-monitor.js";
import type { Machine } from "./machine.js";
import { without } from "./registration.js";
import { runtimeVersion } from "./runtime-version.js";

const HOST_NETWORK_USERS = "UserNamespacesHostNetworkSupport";

export interface StatusInput {
  init: NodeStatusInit;
  /** undefined: main has not sent any yet. */
  facts: NodeFacts | undefined;
  machine: Machine;
  network: HostNetwork;
  health: KubeletHealth;
  wallMs: WallTime;
  nowMs: MonotonicTime;
}

interface NodeEvent {
  type: EventType;
  reason: EventReason;
  message: string;
}

export interface Computed {
  node: Node;
  /** To be recorded once the server has taken the Node. */
  events: NodeEvent[];
  /** The addresses could not be determined. */
  addressError: OperatorError | undefined;
}

export function computeNode(existing: Node, input: StatusInput): Computed {
  const { init, facts, machine, health } = input;
  const old = existing.status ?? {};
  const events: NodeEvent[] = [];
  const { addresses, addressError } = addressesOf(old, input);
  const { capacity, allocatable } = resourcesOf(old, facts);
  const bootID = old.nodeInfo?.bootID ?? "";
  if (bootID !== "" && machine.bootID !== "" && bootID !== machine.bootID) {
    const message = `Node ${init.nodeName} has been rebooted, boot id: ${machine.bootID}`;
    events.push({ type: "Warning", reason: "Rebooted", message });
  }
  const required = ["cpu", "memory", "pods", ...(init.localStorageCapacityIsolation ? ["ephemeral-storage"] : [])];
  const reasons = notReadyReasons({
    runtime: facts?.runtime,
    health,
    storageProblem: facts?.storageProblem ?? "",
    shuttingDown: facts?.shuttingDown ?? false,
    missingCapacity: required.filter((name) => capacity[name] === undefined),
    nowMs: input.nowMs,
  });
  const { conditions, events: changed } = nextConditions(
    old.conditions ?? [],
    facts?.pressures ?? [],
    reasons,
    apiTime(input.wallMs),
  );
  for (const reason of changed) {
    events.push({ type: "Normal", reason, message: `Node ${init.nodeName} status is now: ${reason}` });
  }
  // The only feature that depends on the runtime.
  const ofRuntime = facts?.runtime?.details.userNamespacesHostNetwork === true;
  const declaredFeatures = init.declaredFeatures.filter((name) => ofRuntime || name !== HOST_NETWORK_USERS);
  const status: NodeStatus = omitUndefined<NodeStatus>({
    ...old,
    capacity,
    allocatable,
    conditions,
    addresses: [...addresses],
    daemonEndpoints: { kubeletEndpoint: { Port: init.port } },
    nodeInfo: nodeInfoOf(old.nodeInfo, input),
    images: facts?.images ?? old.images,
    volumesInUse: facts?.volumesInUse?.toSorted() ?? old.volumesInUse,
    ...runtimeOf(facts),
    declaredFeatures: declaredFeatures.length > 0 ? declaredFeatures : undefined,
  });
  const computed = { ...existing, metadata: metadataOf(existing, init), status };
  const node = facts === undefined ? computed : withConfigReport(computed, facts.config, apiTime(input.wallMs));
  return { node, events, addressError };
}

function addressesOf(old: NodeStatus, { init, network }: StatusInput) {
  const existing = old.addresses ?? [];
  try {
    return { addresses: nodeAddresses(init, network, existing), addressError: undefined };
  } catch (error) {
    return { addresses: existing, addressError: error as OperatorError };
  }
}

/**
 * Resources that main reports replace those in the status; all others belong to other writers, and pods may request
 * them.
 */
function resourcesOf(
  old: NodeStatus,
  facts: NodeFacts | undefined,
): { capacity: ResourceList; allocatable: ResourceList } {
  if (facts === undefined) return { capacity: old.capacity ?? {}, allocatable: old.allocatable ?? {} };
  const others = Object.entries(old.capacity ?? {}).filter(
    // Huge pages of a size that the machine no longer has go.
    ([name]) => facts.capacity[name] === undefined && !name.startsWith("hugepages-"),
  );
  return {
    capacity: { ...Object.fromEntries(others), ...facts.capacity },
    allocatable: { ...Object.fromEntries(others), ...facts.allocatable },
  };
}

function nodeInfoOf(old: NodeSystemInfo | undefined, { init, facts, machine }: StatusInput): NodeSystemInfo {
  const { machineID, systemUUID, bootID, kernelVersion, osImage, swapCapacity } = machine;
  const runtime = facts?.runtime;
  return omitUndefined({
    machineID,
    systemUUID,
    bootID,
    kernelVersion,
    osImage,
    containerRuntimeVersion:
      runtime === undefined
        ? (old?.containerRuntimeVersion ?? "")
        : `${runtime.name}://${runtimeVersion(runtime.version)}`,
    kubeletVersion: init.kubeletVersion,
    kubeProxyVersion: "",
    operatingSystem: init.operatingSystem,
    architecture: init.architecture,
    swap: swapCapacity > 0 ? { capacity: swapCapacity } : undefined,
  });
}

function runtimeOf(facts: NodeFacts | undefined): Pick<NodeStatus, "runtimeHandlers" | "features"> {
  const details = facts?.runtime?.details;
  if (details === undefined) return {};
  const { handlers, supplementalGroupsPolicy } = details;
  return omitUndefined({
    runtimeHandlers: handlers.map(({ name, recursiveReadOnlyMounts, userNamespaces }) => ({
      name,
      features: { recursiveReadOnlyMounts, userNamespaces },
    })),
    features: supplementalGroupsPolicy !== undefined ? { supplementalGroupsPolicy } : undefined,
  });
}

function metadataOf(existing: Node, init: NodeStatusInit): Node["metadata"] {
  const { metadata } = existing;
  const labels = {
    ...metadata.labels,
    "kubernetes.io/os": init.operatingSystem,
    "kubernetes.io/arch": init.architecture,
  };
  const specified = init.externalCloudProvider ? specifiedIPs(init).join(",") : "";
  const annotations: Record<string, string> = { ...without(metadata.annotations, PROVIDED_IP) };
  if (specified !== "") annotations[PROVIDED_IP] = specified;
  return { ...metadata, labels, annotations };
}
