// Rules about containers that exited: OOM kills, crash loops, failed probes' kills, errors before the start. Pure.
import type { ContainerStateTerminated } from "../../shared/api/pod-status.js";
import { milliValue } from "../../shared/api/quantity.js";
import { bytes, duration, timeOf } from "../output/amounts.js";
import { fullDiskHelp, unitOf } from "../problems.js";
import { containersOf, eventsOf, type ContainerView, type Finding, type WhyInput } from "./input.js";

/** Waiting reasons that other rules explain, or that are ordinary. */
const EXPLAINED =
  /^(ContainerCreating|PodInitializing|CrashLoopBackOff|ErrImage.*|Image.*|InvalidImageName|RegistryUnavailable|SignatureValidationFailed)$/;
const SIGNALS: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT",
  4: "SIGILL",
  6: "SIGABRT",
  7: "SIGBUS",
  8: "SIGFPE",
  9: "SIGKILL",
  11: "SIGSEGV",
  15: "SIGTERM",
};

export function* exitRules(input: WhyInput): Iterable<Finding> {
  for (const view of containersOf(input.pod)) {
    const { state, lastState } = view.status ?? {};
    const { reason = "", message = "" } = state?.waiting ?? {};
    const ended = state?.terminated ?? (state?.running === undefined ? lastState?.terminated : undefined);
    const before = lastState?.terminated;
    if (ended?.reason === "OOMKilled" || before?.reason === "OOMKilled") {
      yield oomKilled(input, view, ended ?? before);
    } else if (reason === "CrashLoopBackOff") yield crashLoop(input, view, ended);
    else if (state?.terminated !== undefined && state.terminated.exitCode !== 0) yield failed(view, state.terminated);
    if (reason !== "" && !EXPLAINED.test(reason)) yield notStarted(input, view, reason, message);
  }
}

function oomKilled(input: WhyInput, view: ContainerView, ended: ContainerStateTerminated | undefined): Finding {
  const { container, kind, status } = view;
  const limit = status?.resources?.limits?.["memory"] ?? container.resources?.limits?.["memory"];
  const ofPod = input.pod.spec.resources?.limits?.["memory"];
  const which =
    limit !== undefined
      ? `its memory limit of ${shownBytes(limit)} (resources.limits.memory of the container)`
      : ofPod !== undefined
        ? `the pod's memory limit of ${shownBytes(ofPod)}`
        : "the memory of the node: the container has no limit of its own";
  return {
    severity: "error",
    about: `${kind} ${container.name}`,
    what: `the kernel killed it (OOMKilled): it needed more than ${which}${restartsText(view)}`,
    ...at(timeOf(ended?.finishedAt)),
    ...next(input, view),
    help: [
      limit === undefined
        ? "raise resources.limits.memory to the container's need"
        : "raise the memory limit, or make the program use less",
      `its last output: nodelet logs ${input.pod.metadata.name} -c ${container.name} --previous`,
    ],
  };
}

function crashLoop(input: WhyInput, view: ContainerView, ended: ContainerStateTerminated | undefined): Finding {
  const { container, kind } = view;
  const liveness = eventsOf(input.events, container.name, "Killing").at(-1);
  const byProbe = liveness !== undefined && /failed (liveness|startup) probe/.test(liveness.message);
  const how = ended === undefined ? "it exits soon after its start" : exitText(ended);
  return {
    severity: "error",
    about: `${kind} ${container.name}`,
    what: `it keeps exiting, so the kubelet waits longer before each restart (CrashLoopBackOff): ${byProbe ? `the kubelet stopped it because it failed its probe; ${how}` : how}${restartsText(view)}`,
    ...at(timeOf(ended?.finishedAt)),
    ...next(input, view),
    help: [
      `read why in its last output: nodelet logs ${input.pod.metadata.name} -c ${container.name} --previous`,
      ...exitHelp(ended),
    ],
  };
}

function failed(view: ContainerView, ended: ContainerStateTerminated): Finding {
  return {
    severity: "error",
    about: `${view.kind} ${view.container.name}`,
    what: `${exitText(ended)}; the restart policy does not start it again`,
    ...at(timeOf(ended.finishedAt)),
    help: [`read its output: nodelet logs <pod> -c ${view.container.name}`, ...exitHelp(ended)],
  };
}

function notStarted(
  { facts, node }: WhyInput,
  { container, kind }: ContainerView,
  reason: string,
  message: string,
): Finding {
  const failure = facts?.startFailures.find((one) => one.container === container.name);
  return {
    severity: "error",
    about: `${kind} ${container.name}`,
    what: `it cannot be started (${reason}): ${message === "" ? (failure?.message ?? "no message") : message}`,
    ...(failure !== undefined && { since: failure.failedAt, nextTryAt: failure.nextTryAt }),
    help: startHelp(reason, message, unitOf(node)),
  };
}

function startHelp(reason: string, message: string, unit: string): string[] {
  const full = fullDiskHelp(message);
  if (full.length > 0) return full;
  if (/configmap|secret/i.test(message))
    return ["create the missing ConfigMap or Secret, or mark the reference as optional"];
  if (/executable file not found|no such file or directory/i.test(message))
    return ["the command is not in the image: correct command and args of the container"];
  if (/permission denied/i.test(message))
    return ["the command is not executable for the container's user: check runAsUser and the file's rights"];
  if (/runAsNonRoot|non-root/i.test(message)) return ["the image runs as root: set runAsUser, or allow root"];
  if (reason === "PostStartHookError")
    return ["the postStart hook failed, so the container was stopped: correct the hook"];
  return [`the message is the runtime's: see also its log (journalctl -u ${unit})`];
}

function exitText({ exitCode, signal, reason, message }: ContainerStateTerminated): string {
  const number = signal ?? (exitCode > 128 && exitCode < 160 ? exitCode - 128 : undefined);
  const by = number === undefined || number === 0 ? "" : `, killed by ${SIGNALS[number] ?? `signal ${number}`}`;
  const said = message === undefined || message === "" ? "" : `; its message: ${message}`;
  const why = reason === undefined || reason === "Error" || reason === "Completed" ? "" : ` (${reason})`;
  return `it exited with code ${exitCode}${by}${why}${said}`;
}

function exitHelp(ended: ContainerStateTerminated | undefined): string[] {
  switch (ended?.exitCode) {
    case 0:
      return [
        "the program exited by itself with success: a container of a pod with restartPolicy Always must keep running",
      ];
    case 126:
      return ["code 126: the command is there and cannot be executed"];
    case 127:
      return ["code 127: the shell did not find the command"];
    case 137:
      return [
        "code 137: it was killed. Without OOMKilled it did not stop within its grace period, or another program killed it",
      ];
    case 139:
      return ["code 139: the program crashed with a segmentation fault"];
    default:
      return [];
  }
}

/** The back-off counts from the exit: the message of the waiting state has its length. */
function next({ now }: WhyInput, { status }: ContainerView): Pick<Finding, "nextTryAt"> {
  const { reason, message = "" } = status?.state.waiting ?? {};
  const finishedAt = timeOf(status?.lastState.terminated?.finishedAt);
  const delay = /back-off (\S+) restarting/.exec(message)?.[1];
  if (reason !== "CrashLoopBackOff" || finishedAt === undefined || delay === undefined) return {};
  return { nextTryAt: Math.max(finishedAt + goDurationMs(delay), now) };
}

/** "1m20s" to milliseconds. */
function goDurationMs(text: string): number {
  const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
  const parts = text.split(/(?<=[a-z])(?=\d)/);
  return parts.reduce((sum, part) => sum + parseFloat(part) * (units[part.replace(/[\d.]/g, "")] ?? 0), 0);
}

function restartsText({ status }: ContainerView): string {
  const count = status?.restartCount ?? 0;
  const ran = runTime(status?.lastState.terminated);
  if (count === 0) return "";
  return `; ${count} restart${count === 1 ? "" : "s"} so far${ran === undefined ? "" : `, the last run took ${duration(ran)}`}`;
}

function runTime(ended: ContainerStateTerminated | undefined): number | undefined {
  const [from, to] = [timeOf(ended?.startedAt), timeOf(ended?.finishedAt)];
  return from === undefined || to === undefined ? undefined : to - from;
}

function shownBytes(quantity: string | number): string {
  return bytes(Number(milliValue(quantity)) / 1000);
}

function at(since: number | undefined): { since?: number } {
  return since === undefined ? {} : { since };
}
