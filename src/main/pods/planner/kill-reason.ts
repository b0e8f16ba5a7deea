// The reason why a running container must be stopped. Its definition changed, a probe failed, or it gets other
// resources that apply only at a start.

import type { Container, Probe } from "../../../shared/kubernetes/api/pod.js";
import type { ObservedContainer } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { ContainerId } from "../../../shared/kubernetes/identifiers.js";
import { graceSeconds } from "../../model/container-stop.js";
import type { ProbeResults } from "../../model/probe-results.js";
import { restartsAfterProbeKill } from "../../model/restart.js";
import { definitionChanged, type PlanInput } from "./plan-context.js";
import { resizeNeedsRestart } from "./resize-changes.js";

export interface KillReason {
  /** The text after the container's name: "failed liveness probe". */
  why: string;
  /** For a regular container: it is started again after its exit. */
  restart: boolean;
  /** It gets its new resources at that start. */
  forResize?: true;
  graceSeconds: number;
}

export function killReason(input: PlanInput, container: Container, status: ObservedContainer): KillReason | undefined {
  const { pod, probes, gates } = input;
  if (definitionChanged(container, status)) {
    return { why: "definition changed", restart: true, graceSeconds: graceSeconds(pod) };
  }
  const failed = failedProbe(container, status.id, probes);
  if (failed === undefined) {
    if (!resizeNeedsRestart(input, container)) return undefined;
    return { why: "resize requires restart", restart: true, forResize: true, graceSeconds: graceSeconds(pod) };
  }
  return {
    why: `failed ${failed.name} probe`,
    restart: restartsAfterProbeKill(pod.spec, container, gates),
    graceSeconds: graceSeconds(pod, failed.probe),
  };
}

function failedProbe(
  { livenessProbe, startupProbe }: Container,
  id: ContainerId,
  probes: ProbeResults,
): { name: "liveness" | "startup"; probe: Probe } | undefined {
  if (livenessProbe !== undefined && probes.liveness(id) === "Failure") {
    return { name: "liveness", probe: livenessProbe };
  }
  if (startupProbe !== undefined && probes.startup(id) === "Failure") return { name: "startup", probe: startupProbe };
  return undefined;
}
