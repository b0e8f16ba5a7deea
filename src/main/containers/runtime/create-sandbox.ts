// RunPodSandbox: the pod's namespaces, network and pause process, and the PodSandboxConfig that describes them.

import type { InspectHint } from "../../../shared/contracts/pleg.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { grpcText } from "../../../shared/kubernetes/cri/errors.js";
import { sandboxIdOf } from "../../../shared/kubernetes/identifiers.js";
import type { CreateSandboxStep } from "../../model/step.js";
import { isCriticalPod } from "../../resources/oom-score.js";
import { podDns } from "../network/pod-dns.js";
import type { NodeRuntime } from "./node-runtime.js";
import type { PodEnvironment } from "./pod-environment.js";
import { checkedRuntimeHandler } from "./runtime-handlers.js";
import { sandboxSettings } from "./sandbox-settings.js";

/** Rejects with CriError, or what made the settings impossible. */
export async function createSandbox(
  runtime: NodeRuntime,
  pod: Pod,
  environment: PodEnvironment,
  step: CreateSandboxStep,
  signal: AbortSignal,
): Promise<InspectHint[]> {
  try {
    return await run(runtime, pod, environment, step, signal);
  } catch (error) {
    if (!signal.aborted) {
      const message = `Failed to create pod sandbox: ${grpcText(error)}`;
      runtime.events.pod(pod, { type: "Warning", reason: "FailedCreatePodSandBox", message });
    }
    throw error;
  }
}

async function run(
  runtime: NodeRuntime,
  pod: Pod,
  environment: PodEnvironment,
  step: CreateSandboxStep,
  signal: AbortSignal,
): Promise<InspectHint[]> {
  const handler = await checkedRuntimeHandler(runtime, pod, signal);
  const config = await sandboxSettings(runtime, pod, environment, step.attempt);
  const { warnings } = podDns(pod, await environment.dns());
  for (const { object, reason, message } of warnings) {
    if (object === "pod") runtime.events.pod(pod, { type: "Warning", reason, message });
    else runtime.events.node({ type: "Warning", reason, message });
  }
  let startedAt = runtime.clock.monotonic();
  const onSent = (): void => void (startedAt = runtime.clock.monotonic());
  let ok = false;
  try {
    const request = { config, runtimeHandler: handler };
    const reply = await runtime.cri.runPodSandbox(request, { signal, urgent: isCriticalPod(pod), onSent });
    ok = true;
    return [{ kind: "sandbox", id: sandboxIdOf(reply.podSandboxId) }];
  } finally {
    runtime.metrics.sandboxRun(runtime.clock.monotonic() - startedAt, ok, {
      handler,
      ownUsers: pod.spec.hostUsers === false,
    });
  }
}
