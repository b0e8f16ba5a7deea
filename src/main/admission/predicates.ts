// Admit handlers that compare a pod with the node: its name, labels, taints, host ports, pressure and operating system.
import { termMatches } from "../../shared/api/node-selector.js";
import type { NodeSelectorTerm } from "../../shared/api/objects.js";
import { type Pod, isSidecar, isStaticPod, type Toleration } from "../../shared/api/pod.js";
import type { AdmissionHandler, AdmissionNode } from "./handler.js";
import { isCriticalPod } from "../resources/oom-score.js";
import { qosClass } from "../resources/qos.js";

// The node name, nodeSelector and required node affinity of the pod.
// Source: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/

interface Affinity {
  nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: NodeSelectorTerm[] } };
}

export const nodeAffinityHandler: AdmissionHandler = ({ pod, node }) =>
  selects(pod, node)
    ? undefined
    : {
        reason: "NodeAffinity",
        message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
      };

export const nodeNameHandler: AdmissionHandler = ({ pod, node }) => {
  const { nodeName = "" } = pod.spec;
  return nodeName === "" || nodeName === node.name
    ? undefined
    : {
        reason: "NodeName",
        message: "Predicate NodeName failed: node(s) didn't match the requested node name",
      };
};

function selects(pod: Pod, node: AdmissionNode): boolean {
  const { nodeSelector = {} } = pod.spec;
  if (!Object.entries(nodeSelector).every(([key, value]) => node.labels[key] === value)) return false;
  const affinity = pod.spec.affinity as Affinity | undefined;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return true;
  return (required.nodeSelectorTerms ?? []).some((term) => termMatches(term, node));
}

// Host ports: one pod each per protocol and address; 0.0.0.0 takes them all.

interface HostPort {
  port: number;
  protocol: string;
  ip: string;
}

const EVERY_ADDRESS = "0.0.0.0";

export const nodePortsHandler: AdmissionHandler = ({ pod, others }) => {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return undefined;
  const taken = addressesByPort(others.flatMap(hostPorts));
  const conflict = wanted.some((port) => clashes(port, taken.get(keyOf(port))));
  return conflict
    ? {
        reason: "NodePorts",
        message: "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
      }
    : undefined;
};

/** Ports of containers that stay: ordinary init containers exit before other containers need theirs. */
function hostPorts({ spec }: Pod): HostPort[] {
  const lasting = [...spec.containers, ...(spec.initContainers ?? []).filter(isSidecar)];
  return lasting
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort = 0 }) => hostPort > 0)
    .map(({ hostPort = 0, protocol = "TCP", hostIP = "" }) => ({
      port: hostPort,
      protocol,
      ip: hostIP === "" || hostIP === "::" ? EVERY_ADDRESS : hostIP,
    }));
}

const keyOf = ({ port, protocol }: HostPort): string => `${port}/${protocol}`;

/** Pods may have thousands of ports: none is compared with each other one. */
function addressesByPort(ports: readonly HostPort[]): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const port of ports) {
    const addresses = found.get(keyOf(port)) ?? new Set();
    found.set(keyOf(port), addresses.add(port.ip));
  }
  return found;
}

function clashes({ ip }: HostPort, taken: ReadonlySet<string> | undefined): boolean {
  if (taken === undefined) return false;
  return ip === EVERY_ADDRESS || taken.has(ip) || taken.has(EVERY_ADDRESS);
}

/** NoExecute taints of the node. Static pods belong to the node: they run with any taint. */
export const taintsHandler: AdmissionHandler = ({ pod, node }) => {
  if (isStaticPod(pod)) return undefined;
  const untolerated = node.taints.some((taint) => taint.effect === "NoExecute" && !tolerates(pod, taint));
  return untolerated
    ? {
        reason: "TaintToleration",
        message: "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
      }
    : undefined;
};

// Does a pod tolerate a taint? Source: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/

interface NodeTaint {
  key: string;
  value?: string;
  effect: string;
}

function tolerates(pod: Pod, taint: NodeTaint): boolean {
  return (pod.spec.tolerations ?? []).some((toleration) => matches(toleration, taint));
}

function matches({ key = "", operator = "Equal", value = "", effect = "" }: Toleration, taint: NodeTaint): boolean {
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  switch (operator) {
    case "Exists":
      return true;
    case "Equal":
      return key !== "" && value === (taint.value ?? "");
    // With every value of the gate TaintTolerationComparisonOperators: the API server decides who may write them.
    case "Lt":
    case "Gt": {
      const [own, given] = [Number(taint.value), Number(value)];
      if (!Number.isInteger(own) || !Number.isInteger(given)) return false;
      return operator === "Lt" ? own < given : own > given;
    }
  }
}

// Rejects pods that would add to the pressure of a node under pressure (reason Evicted).

const MEMORY_TAINT = { key: "node.kubernetes.io/memory-pressure", effect: "NoSchedule" };

export const pressureHandler: AdmissionHandler = ({ pod, node: { pressures } }) => {
  if (pressures.length === 0 || isCriticalPod(pod)) return undefined;
  const onlyMemory = pressures.every((condition) => condition === "MemoryPressure");
  if (onlyMemory && !harmedByMemoryPressure(pod)) return undefined;
  return { reason: "Evicted", message: `The node had condition: [${pressures.join(", ")}]. ` };
};

/** BestEffort pods are not admitted under memory pressure, unless they tolerate its taint. */
function harmedByMemoryPressure(pod: Pod): boolean {
  return qosClass(pod) === "BestEffort" && !tolerates(pod, MEMORY_TAINT);
}

// A pod for another operating system does not start here.

const OS_LABEL = "kubernetes.io/os";
const HOST_OS = "linux";

export const operatingSystemHandler: AdmissionHandler = ({ pod, node }) => {
  const wanted = pod.metadata.labels?.[OS_LABEL];
  if (wanted !== undefined && wanted !== (node.labels[OS_LABEL] ?? HOST_OS)) {
    return {
      reason: "PodOSSelectorNodeLabelDoesNotMatch",
      message: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    };
  }
  const os = pod.spec.os?.name;
  if (os !== undefined && os !== "" && os !== HOST_OS) {
    return { reason: "PodOSNotSupported", message: "Failed to admit pod as the OS field doesn't match node OS" };
  }
  return undefined;
};

export const supplementalGroupsHandler: AdmissionHandler = ({ pod, node }) =>
  pod.spec.securityContext?.supplementalGroupsPolicy === "Strict" && node.supplementalGroupsPolicy === false
    ? {
        reason: "SupplementalGroupsPolicyNotSupported",
        message: "SupplementalGroupsPolicy=Strict is not supported in this node",
      }
    : undefined;
