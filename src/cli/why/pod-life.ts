// Rules about the whole pod: runtime, sandbox, failed syncs, conditions. Pure.

import { timeOf } from "../output/amounts.js";
import { podState } from "../pods/state.js";
import { cniHelp, fullDiskHelp, problemsOf, unitOf } from "../problems.js";
import { containersOf, type Finding, type WhyInput } from "./input.js";

const API_SERVER_AWAY = /^the API server \S* ?(?:does not respond|refuses the requests)/;

/** The node's own problems that keep every pod from starting or stopping. */
export function* nodeRules({ node, pod }: WhyInput): Iterable<Finding> {
  const { runtime } = node.facts ?? {};
  const down = runtime !== undefined && !(runtime.reachable && runtime.runtimeReady);
  const noNetwork = runtime?.networkReady === false && pod.spec.hostNetwork !== true && pod.status?.phase === "Pending";
  const kinds = [
    ...(node.mainProblem !== undefined || down || noNetwork ? ["main thread", "runtime"] : []),
    // A pod that runs well needs no word about the disk.
    ...(podState(pod).fine ? [] : ["DiskPressure", "the disk of \\S+ is full"]),
  ];
  const relevant = new RegExp(kinds.join("|"));
  for (const { what, since, help } of problemsOf(node)) {
    // A pod that is on the node needs the API server for changes only.
    const isApi = API_SERVER_AWAY.test(what);
    if (!isApi && (kinds.length === 0 || !relevant.test(what))) continue;
    const severity = isApi ? "warning" : "error";
    yield { severity, about: "node", what, since, help: [help] };
  }
}

export function* sandboxRules({ events, pod, facts, node }: WhyInput): Iterable<Finding> {
  if (pod.status?.podIP !== undefined || pod.status?.phase !== "Pending") return;
  const failed = events.findLast(({ reason }) => reason === "FailedCreatePodSandBox");
  if (failed === undefined) return;
  const since = timeOf(failed.firstTimestamp);
  yield {
    severity: "error",
    about: "pod",
    what: `the runtime cannot create its sandbox (network namespace, cgroup): ${failed.message.replace(/^Failed to create pod sandbox: /, "")}`,
    since,
    nextTryAt: facts?.retry?.nextTryAt,
    help: sandboxHelp(failed.message, node),
  };
}

function sandboxHelp(error: string, node: WhyInput["node"]): string[] {
  const full = fullDiskHelp(error);
  if (full.length > 0) return full;
  return /cni|network/i.test(error) ? [cniHelp(node)] : [`see the runtime's log: journalctl -u ${unitOf(node)}`];
}

export function* syncRules({ facts, node }: WhyInput): Iterable<Finding> {
  const { retry } = facts ?? {};
  if (retry === undefined || node.facts?.runtime?.reachable === false) return;
  yield {
    severity: "warning",
    about: "pod",
    what: `the kubelet's last pass over it failed (${retry.failures} in a row): ${retry.message}`,
    nextTryAt: retry.nextTryAt,
    help: [retryHelp(retry.message)],
  };
}

function retryHelp(message: string): string {
  return message.startsWith("ENAMETOOLONG")
    ? "namespace, name and UID of the pod make the name of a folder, of at most 255 bytes: create the pod under a shorter name"
    : "the kubelet tries again by itself; the message names the step";
}

export function* nameRules({ facts, pods }: WhyInput): Iterable<Finding> {
  if (facts?.waitsFor === undefined) return;
  const { uid } = facts.waitsFor;
  const other = pods.find(({ metadata }) => metadata.uid === uid);
  yield {
    severity: "error",
    about: "pod",
    what: `an earlier pod of the same name (UID ${uid}) must terminate first${other === undefined ? "" : `; it is ${other.status?.phase ?? "unknown"}`}`,
    help: [`see why it does not terminate: nodelet why ${uid}`],
  };
}

/** Init containers that run long, and readiness gates. */
export function* waitRules({ pod, now }: WhyInput): Iterable<Finding> {
  for (const { container, status, kind } of containersOf(pod)) {
    const startedAt = timeOf(status?.state.running?.startedAt);
    if (kind !== "init container" || container.restartPolicy === "Always" || startedAt === undefined) continue;
    yield {
      severity: "info",
      about: `init container ${container.name}`,
      what: `it runs, and the containers after it wait until it exits with code 0`,
      since: Math.min(startedAt, now),
      output: { container: container.name, previous: false },
      help: [`its log may show the cause: nodelet logs ${pod.metadata.name} -c ${container.name}`],
    };
  }
  for (const { conditionType } of pod.spec.readinessGates ?? []) {
    const condition = pod.status?.conditions?.find(({ type }) => type === conditionType);
    if (condition?.status === "True") continue;
    yield {
      severity: "warning",
      about: "pod",
      what: `its readiness gate ${conditionType} is ${condition?.status ?? "not set"}${condition?.message === undefined ? "" : `: ${condition.message}`}`,
      help: ["a controller outside this node sets this condition; check that it runs"],
    };
  }
}
