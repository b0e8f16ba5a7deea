// Rules about probes of running containers that fail, and have not stopped their container. Pure.

import type { Probe } from "../../shared/kubernetes/api/pod.js";
import { timeOf } from "../output/amounts.js";
import { containersOf, eventsOf, type ContainerView, type Finding, type WhyInput } from "./input.js";
import { killOf } from "./probe-kills.js";
import { describeProbe, probeHelp } from "./probe-words.js";
import { isId } from "./runs.js";

const KINDS = [
  ["startup", "Startup", "startupProbe"],
  ["liveness", "Liveness", "livenessProbe"],
  ["readiness", "Readiness", "readinessProbe"],
] as const;
type Kind = (typeof KINDS)[number];

/** Prefix of an event that stands for several. */
const COMBINED = /^\(combined from similar events\): /;

interface Failures {
  output: string;
  count: number;
  firstAt?: number | undefined;
  lastAt: number;
}

export function* probeRules(input: WhyInput): Iterable<Finding> {
  for (const view of containersOf(input.pod)) {
    if (view.status?.state.running === undefined) continue;
    const kill = killOf(input, view);
    for (const kind of KINDS) if (kill?.probe !== kind[0]) yield* probeRule(input, view, kind);
  }
}

function* probeRule(input: WhyInput, view: ContainerView, kind: Kind): Iterable<Finding> {
  const { container, status, kind: what } = view;
  const [name, , field] = kind;
  const probe = container[field];
  if (probe === undefined || status === undefined) return;
  const failures = failuresOf(input, view, kind);
  const waits = name === "readiness" ? !status.ready : name === "startup" && status.started === false;
  if (name === "readiness" && status.started === false) return;
  // A liveness probe only matters while it keeps failing.
  const periodMs = (probe.periodSeconds ?? 10) * 1000;
  const goesOn = failures !== undefined && input.now - failures.lastAt < 3 * periodMs + 5000;
  if (!waits && !(name === "liveness" && goesOn)) return;
  const about = `${what} ${container.name}`;
  const log = `look at the program: nodelet logs ${input.pod.metadata.name} -c ${container.name}`;
  if (failures === undefined) {
    const notYet = `its ${name} probe (${describeProbe(probe)}) has not succeeded yet`;
    yield { severity: "info", about, what: notYet, help: [...slowStart(name, probe), log] };
    return;
  }
  const { output, count, firstAt, lastAt } = failures;
  const times = `${count} time${count === 1 ? "" : "s"}${name === "readiness" ? "" : " in a row"}`;
  yield {
    severity: "error",
    about,
    what: `its ${name} probe (${describeProbe(probe)}) has failed ${times}${effect(name)}. Its last output: ${output.trim() === "" ? "(none)" : output}`,
    since: firstAt,
    nextTryAt: goesOn ? Math.max(lastAt + periodMs, input.now) : undefined,
    help: [...probeHelp(output, probe, input.pod.metadata.name, container.name), log],
  };
}

/** Failures of this run of the container. Events say less: they add up over runs, and some are suppressed. */
function failuresOf({ events, facts }: WhyInput, view: ContainerView, [kind, title]: Kind): Failures | undefined {
  const { container, status } = view;
  const failing = facts?.probesFailing?.find((one) => one.container === container.name && one.probe === kind);
  if (failing !== undefined && isId(status?.containerID, failing.containerId)) {
    const { inARow: count, lastAt, answers } = failing;
    return { output: answers.at(-1)?.text ?? "", count, lastAt };
  }
  if (facts !== undefined && kind !== "readiness") return undefined;
  const startedAt = timeOf(status?.state.running?.startedAt) ?? 0;
  const told = eventsOf(events, container.name, "Unhealthy")
    .map((event) => ({ ...event, message: event.message.replace(COMBINED, ""), at: timeOf(event.lastTimestamp) ?? 0 }))
    .filter(({ message, at }) => message.startsWith(title) && at >= startedAt);
  const last = told.at(-1);
  if (last === undefined) return undefined;
  return {
    output: last.message.replace(/^\w+ probe (failed|errored[^:]*): ?/, ""),
    count: told.reduce((sum, { count }) => sum + count, 0),
    firstAt: timeOf(told[0]?.firstTimestamp),
    lastAt: last.at,
  };
}

function slowStart(kind: string, { initialDelaySeconds = 0, periodSeconds = 10 }: Probe): string[] {
  if (kind === "liveness") return [];
  return [`it is tried ${initialDelaySeconds} s after the start of the container, then every ${periodSeconds} s`];
}

function effect(kind: string): string {
  if (kind === "readiness") return ", so the container is not ready and gets no traffic of services";
  return kind === "liveness"
    ? "; the kubelet restarts the container after failureThreshold failures in a row"
    : "; the container does not count as started";
}
