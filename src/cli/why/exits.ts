// Rules about containers that exited or could not be started: OOM kills, crash loops, failed hooks, errors before the
// start. Pure.

import type { ContainerStateTerminated } from "../../shared/kubernetes/api/pod-status.js";
import { milliValue } from "../../shared/kubernetes/api/quantity.js";
import { bytes, duration, timeOf } from "../output/amounts.js";
import { unitOf } from "../problems.js";
import { nextStart } from "./back-off.js";
import { exitHelp, exitText } from "./exit-codes.js";
import { containersOf, eventsOf, type ContainerView, type Finding, type WhyInput } from "./input.js";
import { killOf, probeKilled } from "./probe-kills.js";
import { countsStill, isId, lastEnd, neverRan, ownStop, ranAndEnded } from "./runs.js";
import { startHelp } from "./start-help.js";
import { keyMissing } from "./volumes.js";

/** Waiting reasons that other rules explain, or that are ordinary. */
const EXPLAINED =
  /^(ContainerCreating|PodInitializing|CrashLoopBackOff|ErrImage.*|Image.*|InvalidImageName|RegistryUnavailable|SignatureValidationFailed)$/;

export function* exitRules(input: WhyInput): Iterable<Finding> {
  for (const view of containersOf(input.pod)) {
    // What a pod on its way out did before is no question any more.
    if (isEnding(input) && view.status?.state.running !== undefined) continue;
    const kill = killOf(input, view);
    if (kill !== undefined) yield probeKilled(input, view, kill);
    const ended = lastEnd(view);
    // Another run may have ended since, by itself.
    const isLast =
      kill?.containerId === (ended?.containerID?.split("://")[1] ?? "") || isAtWork(view, kill?.containerId);
    if (kill === undefined || !isLast) yield* exitRule(input, view, ended);
    const { reason = "", message = "" } = view.status?.state.waiting ?? {};
    if (reason !== "" && !EXPLAINED.test(reason)) yield notStarted(input, view, reason, message);
  }
}

function isEnding({ pod, facts }: WhyInput): boolean {
  return pod.metadata.deletionTimestamp != null || facts?.termination !== undefined;
}

/** The kubelet is stopping the present run. */
function isAtWork({ status }: ContainerView, containerId: string | undefined): boolean {
  return containerId !== undefined && status?.state.running !== undefined && isId(status.containerID, containerId);
}

function* exitRule(
  input: WhyInput,
  view: ContainerView,
  ended: ContainerStateTerminated | undefined,
): Iterable<Finding> {
  const { running, terminated, waiting } = view.status?.state ?? {};
  if (running !== undefined) yield* restarted(input, view);
  else if (ended?.reason === "OOMKilled") yield oomKilled(input, view, ended);
  else if (waiting?.reason === "CrashLoopBackOff") yield crashLoop(input, view, ended);
  else if (terminated !== undefined && terminated.exitCode !== 0) yield failed(input, view, terminated);
}

/** A container that runs again: a finding until its restarts no longer count, and its history afterwards. */
function* restarted(input: WhyInput, view: ContainerView): Iterable<Finding> {
  const { now } = input;
  const { container, kind } = view;
  const ended = ranAndEnded(view);
  const endedAt = timeOf(ended?.finishedAt);
  if (ended === undefined || endedAt === undefined) return;
  const about = `${kind} ${container.name}`;
  const stop = ownStop(input, ended);
  const counts = countsStill(view, endedAt, now);
  if (stop !== undefined || !counts) {
    const why = stop === undefined ? exitText(ended) : `the kubelet restarted it (${stop})`;
    yield { severity: "info", about, what: `its last run ended ${duration(now - endedAt)} ago: ${why}`, help: [] };
  } else if (ended.reason === "OOMKilled") yield oomKilled(input, view, ended);
  else {
    const hook = hookFailure(input, view);
    yield {
      severity: "error",
      restarting: true,
      about,
      what: `it runs again after its last run ended ${duration(now - endedAt)} ago: ${hook?.what ?? exitText(ended)}${restartsText(view)}`,
      ...(hook === undefined && outputOf(view)),
      help: [...(hook?.help ?? exitHelp(ended)), moreOutput(input, view)],
    };
  }
}

function oomKilled(input: WhyInput, view: ContainerView, ended: ContainerStateTerminated): Finding {
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
    restarting: true,
    about: `${kind} ${container.name}`,
    what: `the kernel killed it (OOMKilled): it needed more than ${which}${restartsText(view)}`,
    ...at(timeOf(ended.finishedAt)),
    ...nextStart(input, view),
    ...outputOf(view),
    help: [
      limit === undefined
        ? "raise resources.limits.memory to the container's need"
        : "raise the memory limit, or make the program use less",
      moreOutput(input, view),
    ],
  };
}

function crashLoop(input: WhyInput, view: ContainerView, ended: ContainerStateTerminated | undefined): Finding {
  const { container, kind } = view;
  const about = `${kind} ${container.name}`;
  const when = { ...at(timeOf(ended?.finishedAt)), ...nextStart(input, view) };
  if (ended !== undefined && neverRan(ended)) {
    const { message = "no message", reason = "" } = ended;
    return {
      severity: "error",
      about,
      what: `it cannot be started (${reason}), so the kubelet waits longer before each try (CrashLoopBackOff): ${message}`,
      ...when,
      help: startHelp(reason, message, unitOf(input.node)),
    };
  }
  const hook = hookFailure(input, view);
  const how = hook?.what ?? (ended === undefined ? "it exits soon after its start" : exitText(ended));
  return {
    severity: "error",
    about,
    what: `it keeps exiting, so the kubelet waits longer before each restart (CrashLoopBackOff): ${how}${restartsText(view)}`,
    ...when,
    ...outputOf(view),
    help: [...(hook?.help ?? exitHelp(ended)), moreOutput(input, view)],
  };
}

/** The postStart hook of the last run failed, so the kubelet stopped the container. */
function hookFailure({ facts, events }: WhyInput, view: ContainerView): Pick<Finding, "what" | "help"> | undefined {
  const { container } = view;
  if (container.lifecycle?.postStart === undefined) return undefined;
  const failure = facts?.startFailures.find((one) => one.container === container.name);
  const isHook = failure?.reason === "PostStartHookError";
  const beganAt = timeOf(lastEnd(view)?.startedAt) ?? Infinity;
  const told = eventsOf(events, container.name, "FailedPostStartHook");
  if (!isHook && !told.some(({ lastTimestamp }) => (timeOf(lastTimestamp) ?? 0) >= beganAt)) return undefined;
  const said = isHook ? `: ${failure.message.replace(/ for Container "[^"]*" in Pod "[^"]*"/, "")}` : "";
  return {
    what: `the kubelet stopped it because its postStart hook failed${said}`,
    help: ["correct the postStart hook: its command runs in the container, beside the program"],
  };
}

function failed(input: WhyInput, view: ContainerView, ended: ContainerStateTerminated): Finding {
  const { pod, node } = input;
  const { kind, container } = view;
  const { message = "", reason = "" } = ended;
  const neverStarted = neverRan(ended);
  const hook = neverStarted ? undefined : hookFailure(input, view);
  const what = neverStarted ? `it could not be started (${reason}): ${message}` : (hook?.what ?? exitText(ended));
  return {
    severity: "error",
    about: `${kind} ${container.name}`,
    what: `${what}; the restart policy does not start it again`,
    ...at(timeOf(ended.finishedAt)),
    ...(neverStarted ? {} : outputOf(view)),
    help: neverStarted
      ? startHelp(reason, message, unitOf(node))
      : [
          ...(hook?.help ?? exitHelp(ended)),
          `more of its output: nodelet logs ${pod.metadata.name} -c ${container.name}`,
        ],
  };
}

function notStarted(input: WhyInput, { container, kind }: ContainerView, reason: string, message: string): Finding {
  const failure = input.facts?.startFailures.find((one) => one.container === container.name);
  const found = failure?.missingKey === undefined ? undefined : keyMissing(failure.missingKey);
  const why = found?.what ?? (message === "" ? (failure?.message ?? "no message") : message);
  return {
    severity: "error",
    about: `${kind} ${container.name}`,
    what: `it cannot be started (${reason}): ${why}`,
    since: failure?.failedAt,
    nextTryAt: failure?.nextTryAt,
    evidence: found !== undefined ? [found.evidence] : undefined,
    help: found?.help ?? startHelp(reason, message, unitOf(input.node)),
  };
}

/** The command reads the last lines of the run that ended. */
function outputOf(view: ContainerView): Pick<Finding, "output"> {
  const { container, status } = view;
  if (ranAndEnded(view) === undefined) return {};
  return { output: { container: container.name, previous: status?.state.terminated === undefined } };
}

function moreOutput({ pod }: WhyInput, { container }: ContainerView): string {
  return `more of its output: nodelet logs ${pod.metadata.name} -c ${container.name} --previous`;
}

function restartsText({ status }: ContainerView): string {
  const count = status?.restartCount ?? 0;
  const ran = runTime(status?.lastState.terminated);
  if (count === 0) return "";
  return `; ${count} restart${count === 1 ? "" : "s"} so far${ran === undefined ? "" : `, the last run took ${duration(ran)}`}`;
}

function runTime(ended: ContainerStateTerminated | undefined): number | undefined {
  const [from, to] = [timeOf(ended?.startedAt), timeOf(ended?.finishedAt)];
  // A container that never started has the epoch for both.
  return from === undefined || to === undefined || from <= 0 ? undefined : to - from;
}

function shownBytes(quantity: string | number): string {
  return bytes(Number(milliValue(quantity)) / 1000);
}

function at(since: number | undefined): { since?: number } {
  return since === undefined ? {} : { since };
}
