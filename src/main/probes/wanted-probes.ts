// The probes of a pod that run now. Pure.
//   before a container has started only its startup probe runs, afterwards liveness and readiness;
//   a verdict of startup, and a liveness Failure, holds until the container is another one;
//   while the pod is being terminated only readiness runs, until its containers have stopped.
import { isSidecar, type Container, type Pod, type Probe } from "../../shared/api/pod.js";
import type { ProbeKind, ProbeSpec, ProbeAction } from "../../shared/contracts/prober.js";
import { ContainerState } from "../../shared/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import { ExpansionBudget, expand } from "../model/expand.js";
import { podIPs } from "../model/pod-ips.js";
import type { ProbeResults, ProbedPodState } from "../model/probe-port.js";
import { nanosToMs, newestOf } from "../model/observed-containers.js";
import type { IntOrString } from "../../shared/api/meta.js";
import { isCreateContainerConfigError } from "../model/step-errors.js";

/** A probe without the fields that the manager adds: its generation and its earlier result. */
export type WantedProbe = Omit<ProbeSpec, "generation" | "verdict">;

export interface WantedInput {
  pod: Pod;
  observed: ObservedPod;
  state: ProbedPodState;
  results: ProbeResults;
  nodeIPs: readonly string[];
}

const SECOND = 1000;

/** The API's defaults, for pods that did not come through the manifest reader. */
const DEFAULTS = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 } as const;

export function probedContainers(pod: Pod): Container[] {
  const { containers, initContainers = [] } = pod.spec;
  return [...containers, ...initContainers.filter(isSidecar)].filter(
    ({ startupProbe, livenessProbe, readinessProbe }) => startupProbe ?? livenessProbe ?? readinessProbe,
  );
}

export function wantedProbes(input: WantedInput): WantedProbe[] {
  const { pod, observed, nodeIPs } = input;
  const containers = probedContainers(pod);
  if (containers.length === 0) return [];
  const [podIP] = podIPs(pod, observed, nodeIPs, undefined);
  const wanted: WantedProbe[] = [];
  const budget = new ExpansionBudget();
  for (const container of containers) {
    const status = newestOf(observed, container.name);
    if (status?.state !== ContainerState.CONTAINER_RUNNING) continue;
    for (const [kind, probe] of dueKinds(input, container, status.id)) {
      const action = resolveAction(probe, container, podIP, budget);
      if (action === undefined) continue;
      wanted.push({
        containerId: status.id,
        kind,
        container: container.name,
        action,
        startedAt: nanosToMs(status.startedAt),
        initialDelayMs: (probe.initialDelaySeconds ?? 0) * SECOND,
        periodMs: (probe.periodSeconds ?? DEFAULTS.periodSeconds) * SECOND,
        timeoutMs: (probe.timeoutSeconds ?? DEFAULTS.timeoutSeconds) * SECOND,
        successThreshold: probe.successThreshold ?? DEFAULTS.successThreshold,
        failureThreshold: probe.failureThreshold ?? DEFAULTS.failureThreshold,
      });
    }
  }
  return wanted;
}

function dueKinds({ state, results }: WantedInput, container: Container, id: string): [ProbeKind, Probe][] {
  const { startupProbe, livenessProbe, readinessProbe } = container;
  const terminating = state === "terminating";
  const startup = results.startup(id);
  if (startupProbe !== undefined && startup !== "Success") {
    return terminating || startup === "Failure" ? [] : [["startup", startupProbe]];
  }
  const due: [ProbeKind, Probe][] = [];
  if (livenessProbe !== undefined && !terminating && results.liveness(id) !== "Failure") {
    due.push(["liveness", livenessProbe]);
  }
  if (readinessProbe !== undefined) due.push(["readiness", readinessProbe]);
  return due;
}

// From a probe in a pod's definition to an action with nothing left to resolve: address, port number, expanded command.
// Pure; an action that cannot be resolved becomes one that fails at each run, with an event for the pod's owner.

/** undefined while the pod has no address and the probe needs one. @internal */
export function resolveAction(
  probe: Probe,
  container: Container,
  podIP: string | undefined,
  budget?: ExpansionBudget,
): ProbeAction | undefined {
  const { exec, httpGet, tcpSocket, grpc } = probe;
  if (exec !== undefined) return execAction(exec.command ?? [], container, budget);
  if (grpc !== undefined) {
    return podIP === undefined
      ? undefined
      : { type: "grpc", host: podIP, port: grpc.port, service: grpc.service ?? "" };
  }
  const action = httpGet ?? tcpSocket;
  if (action === undefined) return { type: "impossible", reason: `missing probe handler for ${container.name}` };
  const host = given(action.host) ?? podIP;
  if (host === undefined) return undefined;
  const port = portNumber(action.port, container);
  if (typeof port === "string") return { type: "impossible", reason: port };
  if (httpGet === undefined) return { type: "tcp", host, port };
  const { scheme = "HTTP", path = "/", httpHeaders = [] } = httpGet;
  return { type: "http", scheme: scheme === "HTTPS" ? "https" : "http", host, port, path, headers: httpHeaders };
}

function given(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

/** The number, or why there is none. */
function portNumber(port: IntOrString, container: Container): number | string {
  if (typeof port === "number") return port;
  const named = container.ports?.find(({ name }) => name === port)?.containerPort;
  // The last resort: a number written as text.
  const found = named ?? (/^\d+$/.test(port) ? Number(port) : undefined);
  if (found === undefined) return `container ${container.name} has no port named "${port}"`;
  return found > 0 && found < 65536 ? found : `invalid port number: ${found}`;
}

/** Only variables with a plain value are known; one with a source counts as empty. */
function execAction(
  command: readonly string[],
  container: Container,
  budget: ExpansionBudget | undefined,
): ProbeAction {
  const env = new Map((container.env ?? []).map(({ name, value = "" }) => [name, value]));
  try {
    return { type: "exec", command: command.map((word) => expand(word, (name) => env.get(name), budget)) };
  } catch (error) {
    if (isCreateContainerConfigError(error)) return { type: "impossible", reason: error.message };
    throw error;
  }
}
