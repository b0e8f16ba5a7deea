// RunPodSandbox: the pod's namespaces, network and pause process, and the PodSandboxConfig that describes them.
import type { Pod } from "../../shared/api/pod.js";
import type { InspectHint } from "../../shared/contracts/pleg.js";
import { isCriError } from "../../shared/cri/errors.js";
import { podDns } from "../network/pod-dns.js";
import type { CreateSandboxStep } from "../model/step.js";
import type { NodeRuntime } from "./node-runtime.js";
import type { PodEnvironment } from "./pod-environment.js";
import { checkedRuntimeHandler } from "./runtime-handlers.js";
import { messageOf } from "../../shared/errors/thrown.js";
import type { PodSandboxConfig } from "../../shared/cri/gen/runtime.v1.js";
import { sandboxHostname } from "../network/hosts-file.js";
import { isCriticalPod } from "../resources/oom-score.js";
import { sandboxResources } from "../resources/container-resources.js";
import { sandboxConfig } from "./config/sandbox-config.js";
import { containerResourceOptions } from "./granted.js";

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

/** A runtime's error as every kubelet's events show it, so that those who search for the text find it. */
function grpcText(error: unknown): string {
  if (!isCriError(error)) return messageOf(error);
  const code = error.code.toLowerCase().replace(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase());
  return `rpc error: code = ${code} desc = ${error.details}`;
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
    return [{ kind: "sandbox", id: reply.podSandboxId }];
  } finally {
    runtime.metrics.sandboxRun(runtime.clock.monotonic() - startedAt, ok, {
      handler,
      ownUsers: pod.spec.hostUsers === false,
    });
  }
}

// The PodSandboxConfig of a pod on this node. It goes into RunPodSandbox, and into CreateContainer and PullImage by repeatedConfig().

type SandboxEnvironment = Pick<PodEnvironment, "cgroup" | "logDirectory" | "dns">;

interface KnownSettings {
  readonly pod: Pod;
  readonly attempt: number;
  readonly settings: Promise<PodSandboxConfig>;
}

/** It holds values of all containers, and the start of each container needs it: it is made once per preparation of the pod. */
const known = new WeakMap<SandboxEnvironment, KnownSettings>();

/** Throws PodFqdnTooLongError when the pod's host name can't be, UserNamespaceError when there are no ids for it. */
export function sandboxSettings(
  runtime: NodeRuntime,
  pod: Pod,
  environment: SandboxEnvironment,
  attempt: number,
): Promise<PodSandboxConfig> {
  const found = known.get(environment);
  if (found?.pod === pod && found.attempt === attempt) return found.settings;
  const settings = makeSettings(runtime, pod, environment, attempt);
  known.set(environment, { pod, attempt, settings });
  // A failure is not kept. The caller awaits the promise itself.
  settings.catch(() => {
    if (known.get(environment)?.settings === settings) known.delete(environment);
  });
  return settings;
}

async function makeSettings(
  runtime: NodeRuntime,
  pod: Pod,
  environment: SandboxEnvironment,
  attempt: number,
): Promise<PodSandboxConfig> {
  const { dns } = podDns(pod, await environment.dns());
  const userNamespace = await runtime.userNamespaces.forPod(pod);
  return sandboxConfig({
    pod,
    attempt,
    hostname: sandboxHostname(pod, runtime.settings.clusterDomain),
    dns,
    logDirectory: environment.logDirectory,
    cgroupParent: environment.cgroup.criParent,
    ...(userNamespace !== undefined && { userNamespace }),
    ...sandboxResources(pod, containerResourceOptions(runtime)),
  });
}
