// Rules about the whole pod: runtime, volumes, sandbox, failed syncs, conditions. Pure.
import { duration, timeOf } from "../output/amounts.js";
import { podState } from "../pods/state.js";
import { cniHelp, fullDiskHelp, problemsOf, unitOf } from "../problems.js";
import { containersOf, type Finding, type WhyInput } from "./input.js";

/** A set-up that takes longer is worth a line. */
const SLOW_VOLUME_MS = 3000;

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
  if (kinds.length === 0) return;
  const relevant = new RegExp(kinds.join("|"));
  for (const { what, since, help } of problemsOf(node)) {
    if (!relevant.test(what)) continue;
    yield { severity: "error", about: "node", what, ...(since !== undefined && { since }), help: [help] };
  }
}

export function* volumeRules({ facts, node, now, pod }: WhyInput): Iterable<Finding> {
  for (const { name, plugin, mounted, runningSince, lastError, nextTryAt } of facts?.volumes ?? []) {
    if (mounted && lastError === undefined) continue;
    const slow = runningSince !== undefined && now - runningSince > SLOW_VOLUME_MS;
    if (lastError === undefined && !slow) continue;
    const host = pod.spec.volumes?.find((volume) => volume.name === name)?.hostPath?.path;
    const hung = node.facts?.hungMounts.find(
      ({ mountPoint }) =>
        lastError?.includes(mountPoint) === true || host === mountPoint || host?.startsWith(`${mountPoint}/`) === true,
    );
    const what =
      hung !== undefined
        ? `it hangs: the file system at ${hung.mountPoint} (${hung.fsType} from ${hung.source}) does not respond`
        : lastError === undefined
          ? `the ${plugin} plugin has worked on it for ${duration(now - (runningSince ?? now))}, without a result`
          : `the ${plugin} plugin failed: ${lastError}`;
    const since = hung?.since ?? runningSince;
    yield {
      severity: "error",
      about: `volume ${name}`,
      what,
      ...(since !== undefined && { since }),
      ...(nextTryAt !== undefined && { nextTryAt }),
      help:
        hung !== undefined
          ? [
              `check the server or driver behind ${hung.source}`,
              `when it is lost for good: umount -l ${hung.mountPoint}`,
            ]
          : volumeHelp(lastError ?? ""),
    };
  }
}

function volumeHelp(error: string): string[] {
  const full = fullDiskHelp(error);
  if (full.length > 0) return full;
  if (/configmap|secret/i.test(error) && /not found/i.test(error))
    return ["create the missing object, or mark the volume as optional"];
  if (/hostPath type check failed|no such file|ENOENT/i.test(error))
    return ["the path is not there on this node: create it, or use type DirectoryOrCreate"];
  if (/driver name .* not found|not found in the list of registered CSI drivers/i.test(error))
    return ["the CSI driver is not registered on this node: check its pod (nodelet pods)"];
  return ["the message is the plugin's or the driver's: see its log"];
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
    ...(since !== undefined && { since }),
    ...(facts?.retry !== undefined && { nextTryAt: facts.retry.nextTryAt }),
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
    help: ["the kubelet tries again by itself; the message names the step"],
  };
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
