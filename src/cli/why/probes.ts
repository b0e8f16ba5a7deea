// Rules about probes: the failing probe and its output. Pure.
import { timeOf } from "../output/amounts.js";
import type { Probe } from "../../shared/api/pod.js";
import { containersOf, eventsOf, type ContainerView, type Finding, type WhyInput } from "./input.js";

const KINDS = [
  ["startup", "Startup", "startupProbe"],
  ["liveness", "Liveness", "livenessProbe"],
  ["readiness", "Readiness", "readinessProbe"],
] as const;

export function* probeRules(input: WhyInput): Iterable<Finding> {
  for (const view of containersOf(input.pod)) {
    if (view.status?.state.running === undefined) continue;
    for (const kind of KINDS) yield* probeRule(input, view, kind);
  }
}

function* probeRule(
  { events, now }: WhyInput,
  { container, status, kind: what }: ContainerView,
  [kind, title, field]: (typeof KINDS)[number],
): Iterable<Finding> {
  const probe = container[field];
  if (probe === undefined || status === undefined) return;
  const failing = eventsOf(events, container.name, "Unhealthy").filter(({ message }) => message.startsWith(title));
  const last = failing.at(-1);
  const lastAt = timeOf(last?.lastTimestamp);
  const waits = kind === "readiness" ? !status.ready : kind === "startup" && status.started === false;
  // A liveness probe only matters while it keeps failing.
  const periodMs = (probe.periodSeconds ?? 10) * 1000;
  const goesOn = lastAt !== undefined && now - lastAt < 3 * periodMs + 5000;
  if (kind === "readiness" && status.started === false) return;
  if (!waits && !(kind === "liveness" && goesOn)) return;
  const output = last === undefined ? undefined : last.message.replace(/^\w+ probe (failed|errored[^:]*): ?/, "");
  const count = failing.reduce((sum, event) => sum + event.count, 0);
  const since = timeOf(failing[0]?.firstTimestamp);
  yield {
    severity: output === undefined ? "info" : "error",
    about: `${what} ${container.name}`,
    what:
      output === undefined
        ? `its ${kind} probe (${describeProbe(probe)}) has not succeeded yet`
        : `its ${kind} probe (${describeProbe(probe)}) has failed ${count} time${count === 1 ? "" : "s"}${effect(kind)}. Its last output: ${output.trim() === "" ? "(none)" : output}`,
    ...(since !== undefined && { since }),
    ...(lastAt !== undefined && goesOn && { nextTryAt: Math.max(lastAt + periodMs, now) }),
    help: [...probeHelp(output ?? "", probe), `look at the program: nodelet logs <pod> -c ${container.name}`],
  };
}

function effect(kind: string): string {
  if (kind === "readiness") return ", so the container is not ready and gets no traffic of services";
  return kind === "liveness"
    ? "; the kubelet restarts the container after failureThreshold failures in a row"
    : "; the container does not count as started";
}

function describeProbe(probe: Probe): string {
  const { exec, httpGet, tcpSocket, grpc } = probe;
  if (exec !== undefined) return `exec ${(exec.command ?? []).join(" ")}`;
  if (httpGet !== undefined) return `GET ${httpGet.path ?? "/"} on port ${httpGet.port}`;
  if (tcpSocket !== undefined) return `TCP port ${tcpSocket.port}`;
  return grpc === undefined ? "no handler" : `gRPC port ${grpc.port}`;
}

function probeHelp(output: string, probe: Probe): string[] {
  if (/connection refused/i.test(output))
    return [
      "no program listens on this port in the pod: check the port, and that the program listens on all addresses, not on 127.0.0.1",
    ];
  if (/timed? ?out|deadline/i.test(output))
    return [
      `the response took longer than timeoutSeconds (${probe.timeoutSeconds ?? 1} s): raise it, or make the response faster`,
    ];
  if (/statuscode: \d+/i.test(output))
    return ["the program responds with an error: check the probe's path, and the program's own dependencies"];
  return probe.exec === undefined
    ? ["check the probe's settings against the program"]
    : ["run the probe by hand: nodelet exec <pod> -- <command>"];
}
