// Rules about pods that the kubelet rejected or terminated. They name the short resource, the missing amount and the
// pods that hold it. Pure.

import { isSidecar, type Pod } from "../../shared/kubernetes/api/pod.js";
import { milliValue } from "../../shared/kubernetes/api/quantity.js";
import { bytes, timeOf } from "../output/amounts.js";
import { fullName } from "../pods/find.js";
import { portConflicts } from "./host-ports.js";
import type { Finding, WhyInput } from "./input.js";

const SHORTAGE = /Node didn't have enough resource: (\S+), requested: (\d+), used: (\d+), capacity: (\d+)/g;
/** Pods named as holders of a short resource. */
const HOLDERS = 5;

/** Help by the reason of a failed pod, as upstream and this kubelet word it. */
const REASONS: Readonly<Record<string, { what: string; help: string[] }>> = {
  Evicted: {
    what: "the kubelet evicted it, because the node was short of a resource, or the pod exceeded its own limit",
    help: [
      "see `nodelet status` for pressures and `nodelet events` for the threshold; set requests and limits that fit the pod",
    ],
  },
  NodeAffinity: {
    what: "its nodeSelector or node affinity does not match the labels of this node",
    help: ["correct the pod's nodeSelector, or label the node"],
  },
  NodeName: { what: "it names another node", help: ["correct spec.nodeName"] },
  NodePorts: {
    what: "another pod of this node has one of its host ports",
    help: ["the other pod has ended since: create the pod anew (a static pod: change its manifest)"],
  },
  TaintToleration: {
    what: "the node has a NoExecute taint that the pod does not tolerate",
    help: ["add a toleration, or remove the taint"],
  },
  NodeShutdown: { what: "the node is shutting down", help: ["it can start after the reboot"] },
  Terminated: { what: "the node was shut down, and its pods with it", help: ["its controller starts another pod"] },
  Preempting: {
    what: "it had to make room for a critical pod",
    help: ["add resources to the node, or move pods away"],
  },
  DeadlineExceeded: {
    what: "it ran longer than its activeDeadlineSeconds",
    help: ["raise activeDeadlineSeconds, or make the work shorter"],
  },
  InvalidName: {
    what: "one of its names cannot be a file name; a Kubernetes API server admits no such pod",
    help: ["find out which server or program has made the pod"],
  },
  SysctlForbidden: {
    what: "it sets a sysctl that this node does not allow",
    help: ["add it to the kubelet's allowedUnsafeSysctls, or remove it from the pod"],
  },
  AppArmor: { what: "its AppArmor profile cannot be enforced here", help: ["load the profile on the node"] },
  TopologyAffinityError: {
    what: "no NUMA node has all of its CPUs, memory and devices",
    help: ["reduce the requests, or choose another topologyManagerPolicy"],
  },
  UnexpectedAdmissionError: {
    what: "its CPUs, memory or devices could not be allocated",
    help: ["the message names the resource manager; see the kubelet's log"],
  },
  PodFeatureUnsupported: {
    what: "it needs a feature that this node does not declare",
    help: ["enable the feature gate, or change the pod"],
  },
};

export function* admissionRules(input: WhyInput): Iterable<Finding> {
  const { pod, events } = input;
  const { phase, reason = "", message = "" } = pod.status ?? {};
  if (phase === "Succeeded") yield* endedByKubelet(pod);
  if (phase !== "Failed" || reason === "") return;
  const at = timeOf(events.findLast((event) => event.reason === reason)?.lastTimestamp);
  const since = at === undefined ? {} : { since: at };
  const shortages = [...message.matchAll(SHORTAGE)];
  if (shortages.length > 0) {
    for (const [, resource = "", requested, used, capacity] of shortages) {
      yield { ...shortage(input, resource, Number(requested), Number(used), Number(capacity)), ...since };
    }
    return;
  }
  const conflicts = reason === "NodePorts" ? portConflicts(pod, input.pods) : [];
  if (conflicts.length > 0) {
    const held = conflicts.map(
      ({ port: { port, protocol }, holder }) => `port ${port} (${protocol}) is held by the pod ${holder}`,
    );
    yield {
      severity: "error",
      about: "pod",
      what: `the kubelet refused it (NodePorts), because a host port is taken: ${held.join("; ")}. A refused pod never runs again under its UID`,
      ...since,
      help: [
        "choose another hostPort, or remove the other pod",
        "then create the pod anew (a static pod: change its manifest)",
      ],
    };
    return;
  }
  const known = REASONS[reason];
  yield {
    severity: "error",
    about: "pod",
    what: `it is Failed (${reason})${known === undefined ? "" : `: ${known.what}`}. The kubelet's message: ${message.trim() === "" ? "none" : message}. A failed pod never runs again under its UID`,
    ...since,
    help: known?.help ?? ["remove the cause and create the pod anew"],
  };
}

/** A preempted or evicted pod whose containers exit with 0 has the phase Succeeded, and no reason. */
function* endedByKubelet({ status }: Pod): Iterable<Finding> {
  const target = status?.conditions?.find(({ type }) => type === "DisruptionTarget");
  if (target?.status !== "True" || target.reason !== "TerminationByKubelet") return;
  const at = timeOf(target.lastTransitionTime ?? undefined);
  yield {
    severity: "warning",
    about: "pod",
    what: `the kubelet terminated it, and all its containers exited with 0. The kubelet's message: ${(target.message ?? "").trim()}`,
    since: at,
    help: ["its controller starts another pod; `nodelet events` shows the event Evicted or Preempting"],
  };
}

function shortage(input: WhyInput, resource: string, requested: number, used: number, capacity: number): Finding {
  const missing = requested - (capacity - used);
  const shown = (amount: number): string => amountText(resource, amount);
  const holders = holdersOf(input, resource);
  const who =
    holders.length === 0
      ? ""
      : `. Most is requested by ${holders.map(([name, amount]) => `${name} (${shown(amount)})`).join(", ")}`;
  const never = requested > capacity;
  return {
    severity: "error",
    about: "pod",
    what:
      `the kubelet refused it: ${namedAmount(resource, missing)} ${isOne(resource, missing) ? "is" : "are"} missing. It requests ${shown(requested)}, ` +
      `pods of this node have ${shown(used)} of the ${shown(capacity)} that are allocatable${who}`,
    help: [
      never
        ? `this node never has so much: request at most ${namedAmount(resource, capacity)}`
        : `remove pods, or lower their requests of ${resource}`,
      "a refused pod never runs again under its UID: create it anew (a static pod: change its manifest)",
    ],
  };
}

/** "62.01 CPUs", "500m CPU", "1.0 GiB", "2". Amounts are CPU in thousandths, all others in whole units. */
function amountText(resource: string, amount: number): string {
  if (resource === "cpu")
    return amount < 1000 ? `${amount}m CPU` : `${amount / 1000} ${amount === 1000 ? "CPU" : "CPUs"}`;
  const isBytes = resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-");
  return isBytes ? bytes(amount) : String(amount);
}

/** As amountText, with the name of the resource: "2 of example.com/gpu". */
function namedAmount(resource: string, amount: number): string {
  return resource === "cpu" ? amountText(resource, amount) : `${amountText(resource, amount)} of ${resource}`;
}

function isOne(resource: string, amount: number): boolean {
  return resource === "cpu" ? amount <= 1000 : amount === 1;
}

function holdersOf({ pod, pods }: WhyInput, resource: string): [string, number][] {
  if (resource === "pods") return [];
  return pods
    .filter(
      ({ metadata, status }) =>
        metadata.uid !== pod.metadata.uid && status?.phase !== "Failed" && status?.phase !== "Succeeded",
    )
    .map((other): [string, number] => [fullName(other), requestOf(other, resource)])
    .filter(([, amount]) => amount > 0)
    .sort(([, a], [, b]) => b - a)
    .slice(0, HOLDERS);
}

/**
 * Requests of containers and sidecars, as a hint which pods hold a resource. Init containers are left out: they run
 * only at the start.
 */
function requestOf({ spec }: Pod, resource: string): number {
  const of = (quantity: string | number | undefined): number => {
    if (quantity === undefined) return 0;
    const milli = Number(milliValue(quantity));
    return resource === "cpu" ? milli : milli / 1000;
  };
  const ofPod = spec.resources?.requests?.[resource];
  if (ofPod !== undefined) return of(ofPod);
  return [...spec.containers, ...(spec.initContainers ?? []).filter(isSidecar)].reduce(
    (sum, { resources }) => sum + of(resources?.requests?.[resource] ?? resources?.limits?.[resource]),
    0,
  );
}
