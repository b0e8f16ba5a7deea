// Rules about containers that the kubelet stopped because a liveness or startup probe failed, whether they run again or
// not. Pure.

import type { ProbeKillFacts } from "../../shared/contracts/nodelet.js";
import { CRASH_RESET_MS } from "../../shared/kubernetes/api/crash-reset.js";
import type { Probe } from "../../shared/kubernetes/api/pod.js";
import { duration, timeOf } from "../output/amounts.js";
import { nextStart } from "./back-off.js";
import type { ContainerView, Finding, WhyInput } from "./input.js";
import { killByEvents } from "./killed-by-events.js";
import { describeAnswers, describeProbe, probeHelp } from "./probe-words.js";
import { countsStill, isId, lastEnd } from "./runs.js";

/** The stop by a probe that explains the container's present state or its last restart. */
export function killOf(input: WhyInput, view: ContainerView): ProbeKillFacts | undefined {
  const { facts, now } = input;
  const { container, status } = view;
  if (status === undefined) return undefined;
  const runs = status.state.running !== undefined;
  const kill = facts?.probeKills?.find((one) => one.container === container.name);
  if (kill === undefined) return killByEvents(input, view);
  if (isId(status.containerID, kill.containerId) && (runs || status.state.terminated !== undefined)) return kill;
  const isLast = isId(lastEnd(view)?.containerID, kill.containerId);
  if (!runs) return isLast ? kill : undefined;
  const counts = isLast ? countsStill(view, kill.lastAt, now) : now - kill.lastAt < CRASH_RESET_MS;
  return counts ? kill : undefined;
}

export function probeKilled(input: WhyInput, view: ContainerView, kill: ProbeKillFacts): Finding {
  const { pod, now } = input;
  const { container, kind, status } = view;
  const { probe: which, answers, inARow, kills, lastAt } = kill;
  const probe = which === "liveness" ? container.livenessProbe : container.startupProbe;
  const ended = lastEnd(view);
  const last = answers.at(-1)?.text ?? "";
  const isBeingStopped = status?.state.running !== undefined && isId(status.containerID, kill.containerId);
  const what =
    `its ${which} probe${probe === undefined ? "" : ` ${describeProbe(probe)}`} ${answered(kill, probe)}, ` +
    `${inARow} time${inARow === 1 ? "" : "s"} in a row; killed ${kills} time${kills === 1 ? "" : "s"}, last ${duration(now - lastAt)} ago` +
    (isBeingStopped ? ". The kubelet is stopping it" : restartText(view));
  const stubborn = ended?.exitCode === 137 && isId(ended.containerID, kill.containerId) && !isBeingStopped;
  return {
    severity: severityOf(view, lastAt, now),
    restarting: true,
    about: `${kind} ${container.name}`,
    what,
    ...nextStart(input, view),
    output: isBeingStopped
      ? undefined
      : { container: container.name, previous: status?.state.terminated === undefined },
    help: [
      ...(probe === undefined ? [] : probeHelp(last, probe, pod.metadata.name, container.name)),
      ...(stubborn ? ["it did not stop within its grace period: let the program handle SIGTERM"] : []),
      ...(which === "startup"
        ? ["a program that starts slowly needs a larger failureThreshold or periodSeconds of the startup probe"]
        : []),
      `more of its output: nodelet logs ${pod.metadata.name} -c ${container.name}${status?.state.terminated === undefined ? " --previous" : ""}`,
    ],
  };
}

function answered({ answers }: ProbeKillFacts, probe: Probe | undefined): string {
  return describeAnswers(answers, probe ?? {});
}

function restartText({ status }: ContainerView): string {
  if (status?.state.running !== undefined) return ". It runs again";
  if (status?.state.terminated !== undefined) return ". The restart policy does not start it again";
  return status?.state.waiting?.reason === "CrashLoopBackOff"
    ? ". The kubelet waits longer before each restart (CrashLoopBackOff)"
    : "";
}

/** A pod that a probe ended with exit code 0 is complete: after some time only its history is of interest. */
function severityOf(view: ContainerView, lastAt: number, now: number): Finding["severity"] {
  const { terminated } = view.status?.state ?? {};
  if (terminated?.exitCode !== 0) return "error";
  return countsStill(view, timeOf(terminated.finishedAt) ?? lastAt, now) ? "error" : "info";
}
