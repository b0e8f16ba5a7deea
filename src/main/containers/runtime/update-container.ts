// UpdateContainerResources: running containers of a pod get other CPU and memory values, and the pod's cgroup with
// them.
// Invariant: the pod's cgroup never has less than its containers have together: it grows before them and shrinks after
// them; no memory limit is set below the current usage; the runtime gets a new size of the pod before its cgroup
// changes, and may refuse it. Every part may be repeated.

import type { InspectHint } from "../../../shared/contracts/pleg.js";
import { containerNamed } from "../../../shared/kubernetes/api/per-spec.js";
import { podDescription, type Container, type Pod } from "../../../shared/kubernetes/api/pod.js";
import {
  CriError,
  CriNotFoundError,
  CriUnavailableError,
  CriUnimplementedError,
} from "../../../shared/kubernetes/cri/errors.js";
import { LinuxContainerResources } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ContainerId, SandboxId } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import {
  largestResources,
  resourcesOf,
  sameResources,
  withResources,
  type PodResources,
} from "../../model/pod-resources.js";
import { ResizeError } from "../../model/resize-error.js";
import type { ResizeContainersStep } from "../../model/step.js";
import { UNLIMITED_QUOTA } from "../../resources/cpu.js";
import { sandboxResources } from "../../resources/sandbox-resources.js";
import { containerResourceOptions, grantedResources } from "./granted.js";
import type { NodeRuntime } from "./node-runtime.js";

const UNLIMITED_MEMORY = -1n;

/** Rejects with ResizeError, or with the runtime's error when that is away. */
export async function resizeContainers(
  runtime: NodeRuntime,
  pod: Pod,
  step: ResizeContainersStep,
  signal: AbortSignal,
): Promise<InspectHint[]> {
  const { actuated } = step;
  const had = actuated === undefined ? undefined : withResources(pod, actuated);
  const values = step.containers.map((one) => ({ ...one, linux: newValues(runtime, pod, one.container, had) }));
  await Promise.all(values.map(({ container, containerId, linux }) => refuseBelowUsage(containerId, container, linux)));
  const between = outgrown(pod, actuated);
  const grows = actuated === undefined || !sameResources(resourcesOf(between), actuated);
  await sizePod(between, grows, had);
  // Containers whose memory shrinks go first.
  const shrinks = (one: { linux: LinuxContainerResources }): number => (one.linux.memoryLimitInBytes > 0n ? 0 : 1);
  for (const { containerId, container, linux } of values.toSorted((a, b) => shrinks(a) - shrinks(b))) {
    await update(containerId, container, linux);
  }
  await sizePod(pod, !sameResources(resourcesOf(pod), resourcesOf(between)), between);
  return step.containers.map(({ containerId }) => ({ kind: "container", id: containerId }));

  /** Sandbox and cgroup; `changes`: the size differs from the runtime's present one, `before`. */
  async function sizePod(sized: Pod, changes: boolean, before: Pod | undefined): Promise<void> {
    if (changes) await updateSandbox(runtime, sized, step.sandboxId, signal);
    try {
      await runtime.cgroups.ensurePod(pod, sized);
    } catch (error) {
      if (changes && before !== undefined) await restoreSandbox(before);
      throw new ResizeError(`resizing the cgroup of the pod: ${errorText(error)}`, { cause: error });
    }
  }

  async function restoreSandbox(before: Pod): Promise<void> {
    try {
      await updateSandbox(runtime, before, step.sandboxId, signal);
    } catch (error) {
      const message = `cannot restore the sandbox resources of ${podDescription(pod)}: ${errorText(error)}`;
      runtime.log.error({ pod: pod.metadata.uid, err: error }, message);
    }
  }

  async function refuseBelowUsage(id: ContainerId, { name }: Container, linux: LinuxContainerResources): Promise<void> {
    const limit = linux.memoryLimitInBytes;
    if (limit <= 0n) return;
    const used = await memoryInUse(runtime, id, signal);
    if (used > limit) {
      throw new ResizeError(
        `attempting to set container ${JSON.stringify(name)} memory limit (${limit}) below current usage (${used})`,
      );
    }
  }

  async function update(containerId: ContainerId, { name }: Container, linux: LinuxContainerResources): Promise<void> {
    try {
      await runtime.cri.updateContainerResources({ containerId, linux, annotations: {} }, { signal });
    } catch (error) {
      // Ended meanwhile: it gets its values at the next start.
      if (error instanceof CriNotFoundError) return;
      if (error instanceof CriUnavailableError || !(error instanceof CriError) || signal.aborted) throw error;
      throw new ResizeError(`updating the resources of container ${name}: ${error.details}`, { cause: error });
    }
  }
}

/** The pod with what its containers have or get, whichever is more. */
export function outgrown(pod: Pod, actuated: PodResources | undefined): Pod {
  return actuated === undefined ? pod : withResources(pod, largestResources(resourcesOf(pod), actuated));
}

/**
 * A runtime with one virtual machine per pod resizes it by this call, and may refuse a size. Other runtimes do not
 * implement the call.
 * @throws ResizeError when the runtime refuses
 */
async function updateSandbox(
  runtime: NodeRuntime,
  sized: Pod,
  podSandboxId: SandboxId,
  signal: AbortSignal,
): Promise<void> {
  try {
    await runtime.cri.updatePodSandboxResources(
      { podSandboxId, ...sandboxResources(sized, containerResourceOptions(runtime)) },
      { signal },
    );
  } catch (error) {
    if (error instanceof CriNotFoundError || isNotImplemented(error)) return;
    if (error instanceof CriUnavailableError || !(error instanceof CriError) || signal.aborted) throw error;
    throw new ResizeError(`failed to notify runtime for UpdatePodSandboxResources; resize rejected: ${error.details}`, {
      cause: error,
    });
  }
}

/** containerd 2.2 returns Unknown with this text: https://github.com/containerd/containerd/pull/13023 */
function isNotImplemented(error: unknown): boolean {
  if (error instanceof CriUnimplementedError) return true;
  return error instanceof CriError && error.code === "UNKNOWN" && error.details.includes("not implemented");
}

/**
 * The new values for the runtime: CPU and memory, and on cgroup v2 what derives from them. A removed limit is lifted; a
 * limit that was never set stays as it is.
 */
function newValues(
  runtime: NodeRuntime,
  pod: Pod,
  container: Container,
  /** The pod with the values last set. */
  before: Pod | undefined,
): LinuxContainerResources {
  const grant = runtime.managers.grant(pod, container);
  const wanted = grantedResources(runtime, pod, container, grant);
  const old = before === undefined ? undefined : containerNamed(before.spec, container.name)?.container;
  const had = before === undefined || old === undefined ? undefined : grantedResources(runtime, before, old, grant);
  const {
    cpuShares,
    cpuPeriod,
    cpuQuota,
    memoryLimitInBytes,
    memorySwapLimitInBytes,
    cpusetCpus,
    cpusetMems,
    unified,
  } = wanted;
  return LinuxContainerResources.fromPartial({
    cpuShares,
    cpuPeriod,
    cpuQuota: cpuQuota === 0n && (had?.cpuQuota ?? 0n) > 0n ? UNLIMITED_QUOTA : cpuQuota,
    memoryLimitInBytes:
      memoryLimitInBytes === 0n && (had?.memoryLimitInBytes ?? 0n) > 0n ? UNLIMITED_MEMORY : memoryLimitInBytes,
    memorySwapLimitInBytes,
    cpusetCpus,
    cpusetMems,
    unified,
  });
}

/** Bytes that the kernel can't reclaim; 0 if the runtime does not report them. */
async function memoryInUse(runtime: NodeRuntime, containerId: ContainerId, signal: AbortSignal): Promise<bigint> {
  try {
    const { stats } = await runtime.cri.containerStats({ containerId }, { signal });
    const memory = stats?.memory;
    return memory?.workingSetBytes?.value ?? memory?.usageBytes?.value ?? 0n;
  } catch (error) {
    if (error instanceof CriUnavailableError || !(error instanceof CriError) || signal.aborted) throw error;
    // The kernel refuses what can't be.
    runtime.log.debug({ err: error, containerId }, "the memory usage of a container is not known");
    return 0n;
  }
}
