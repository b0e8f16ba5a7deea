// One container from its definition to running: image, configuration, CreateContainer, StartContainer, log link.

import { mkdir, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { InspectHint } from "../../../shared/contracts/pleg.js";
import { inUntrustedFolder, namesOf } from "../../../shared/io/fs/untrusted-folder.js";
import type { EventReason } from "../../../shared/kubernetes/api/event-reasons.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { CriError, CriUnavailableError } from "../../../shared/kubernetes/cri/errors.js";
import type { ContainerConfig, PodSandboxConfig } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { containerIdOf, type ContainerId } from "../../../shared/kubernetes/identifiers.js";
import { CreateContainerConfigError } from "../../model/container-config-error.js";
import { containerLogPath, logSymlinkName, nextRestartCount } from "../../model/paths.js";
import { traced } from "../../model/pod-trace.js";
import { seccompProfileRoot } from "../../model/root-directory.js";
import { StartContainerError } from "../../model/step-errors.js";
import type { StartContainerStep } from "../../model/step.js";
import { isImagePlace, type VolumePlace } from "../../volumes/place.js";
import type { ReadyImage } from "../images/image-puller.js";
import { containerConfig } from "./config/container-config.js";
import { containerDevices, containerMounts } from "./config/mounts.js";
import { repeatedConfig } from "./config/sandbox-config.js";
import { environmentOf } from "./container-env.js";
import { makeLogFolder, makeTerminationLog, writeHostsFile } from "./container-files.js";
import { grantedEnv, grantedResources } from "./granted.js";
import { explainRefusal, fetchImageVolumes, imageMountCount } from "./image-volumes.js";
import type { NodeRuntime } from "./node-runtime.js";
import type { PodEnvironment } from "./pod-environment.js";
import { canMountRecursiveReadOnly } from "./recursive-read-only.js";
import { sandboxSettings } from "./sandbox-settings.js";
import { preparedSubPaths } from "./sub-paths.js";

/** Container kinds as metrics name them. */
const METRIC_KINDS = { init: "init_container", app: "container", ephemeral: "ephemeral_container" } as const;

/**
 * Rejects with StartContainerError if this container failed, with the runtime's error if the runtime is unavailable.
 */
export async function startContainer(
  runtime: NodeRuntime,
  pod: Pod,
  environment: PodEnvironment,
  step: StartContainerStep,
  signal: AbortSignal,
  imageAhead?: Promise<ReadyImage>,
): Promise<InspectHint[]> {
  const kind = METRIC_KINDS[step.containerKind];
  try {
    const hints = await start(runtime, pod, environment, step, signal, imageAhead);
    runtime.metrics.containerStarted(kind);
    return hints;
  } catch (error) {
    if (error instanceof StartContainerError) {
      runtime.metrics.containerStartFailed(kind, error.reason);
      emitFailure(runtime, pod, step.container.name, error);
    }
    throw error;
  }
}

/**
 * Reasons whose text the event gives. The puller has already reported the text of an image failure; only the reason
 * follows.
 */
const SHOWN_WITH_MESSAGE: ReadonlySet<string> = new Set([
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
]);

function emitFailure(runtime: NodeRuntime, pod: Pod, container: string, error: StartContainerError): void {
  const text = SHOWN_WITH_MESSAGE.has(error.reason) ? error.message : error.reason;
  runtime.events.pod(pod, { type: "Warning", reason: "Failed", message: `Error: ${text}`, container });
}

async function start(
  runtime: NodeRuntime,
  pod: Pod,
  environment: PodEnvironment,
  step: StartContainerStep,
  signal: AbortSignal,
  imageAhead: Promise<ReadyImage> | undefined,
): Promise<InspectHint[]> {
  const { cri } = runtime;
  const isFirstRun = environment.logFiles.isFirstRun(step.container.name);
  const sandbox = repeatedConfig(await sandboxSettings(runtime, pod, environment, step.sandboxAttempt));
  const [image, restartCount, volumes] = await Promise.all([
    imageAhead ?? runtime.images.ensure(pod, step.container, sandbox, signal),
    step.restartCount ?? (isFirstRun ? 0 : countFromLogs(environment, step)),
    // Volumes that are not there fail the pod's sync, not the container: it shows as being created meanwhile.
    environment.volumes,
  ]);
  const [volumeImages, recursiveReadOnly] = await Promise.all([
    fetchImageVolumes(runtime, pod, step.container, volumes, sandbox, signal),
    canMountRecursiveReadOnly(runtime, pod, step.container, signal),
    makeLogFolder(environment.logDirectory, step.container),
  ]);
  const parts = { image, restartCount, volumes, volumeImages, recursiveReadOnly };
  const config = await configure(runtime, pod, step, parts, signal);
  const subject = (stage: string) => ({ uid: pod.metadata.uid, stage, container: step.container.name });
  const { containerId } = await traced(runtime.trace, subject("create"), () =>
    create(runtime, step, config, sandbox, signal),
  );
  const emit = (reason: EventReason, message: string): void =>
    runtime.events.pod(pod, { type: "Normal", reason, message, container: step.container.name });
  emit("Created", "Container created");
  try {
    await traced(runtime.trace, subject("start"), () => cri.startContainer({ containerId }, { signal }));
    emit("Started", "Container started");
    runtime.managers.started(pod, step.container, containerId);
  } catch (error) {
    // The created container stays for the inspection to find; the planner removes what never started.
    throw startError(error, "RunContainerError", signal);
  }
  await linkLog(runtime, pod, environment, step, restartCount, containerId);
  return [{ kind: "container", id: containerId }];
}

async function create(
  runtime: NodeRuntime,
  step: StartContainerStep,
  config: ContainerConfig,
  sandboxConfig: PodSandboxConfig,
  signal: AbortSignal,
): Promise<{ containerId: ContainerId }> {
  const { cri, metrics } = runtime;
  const images = imageMountCount(config);
  metrics.imageVolumes("requested", images);
  try {
    const created = await cri.createContainer({ podSandboxId: step.sandboxId, config, sandboxConfig }, { signal });
    metrics.imageVolumes("mounted", images);
    return { containerId: containerIdOf(created.containerId) };
  } catch (error) {
    metrics.imageVolumes("failed", images);
    throw startError(error, "CreateContainerError", signal, (details) => explainRefusal(config, details));
  }
}

/**
 * The runtime returned this error, so it is the container's own; an unavailable runtime is not the container's
 * failure.
 */
function startError(
  error: unknown,
  reason: string,
  signal: AbortSignal,
  explain = (details: string): string => details,
): unknown {
  if (error instanceof CriUnavailableError || !(error instanceof CriError) || signal.aborted) return error;
  return new StartContainerError(reason, explain(error.details), undefined, { cause: error });
}

interface ConfigInput {
  image: ReadyImage;
  restartCount: number;
  volumes: ReadonlyMap<string, VolumePlace>;
  /** Volume name to image, of those that are images. */
  volumeImages: ReadonlyMap<string, string>;
  /** The runtime can. */
  recursiveReadOnly: boolean;
}

async function configure(
  runtime: NodeRuntime,
  pod: Pod,
  step: StartContainerStep,
  { image, restartCount, volumes, volumeImages, recursiveReadOnly }: ConfigInput,
  signal: AbortSignal,
): Promise<ContainerConfig> {
  const { settings } = runtime;
  const { container } = step;
  try {
    await runtime.managers.ensure(pod, container, signal);
    // As upstream: a device that is not ready keeps its container from being created.
    await runtime.managers.preStart(pod, container, signal);
    const grant = runtime.managers.grant(pod, container);
    const own = await environmentOf(runtime, { pod, container, podIPs: step.podIPs, volumes, signal });
    const env = grantedEnv(grant, own);
    const subPaths = await preparedSubPaths(runtime, pod, container, { environment: own, volumes }, signal);
    const [hostsPath, terminationLog] = await Promise.all([
      writeHostsFile(runtime, pod, step.podIPs),
      makeTerminationLog(runtime, pod, container),
    ]);
    const mounts = containerMounts({
      pod,
      container,
      volumes,
      images: volumeImages,
      subPaths,
      recursiveReadOnly,
      seLinux: runtime.node.seLinux,
      terminationLogPath: terminationLog,
      etcHostsPath: hostsPath,
    });
    const userNamespace = await runtime.userNamespaces.forPod(pod);
    return containerConfig({
      userNamespace,
      pod,
      container,
      kind: step.containerKind,
      restartCount,
      imageRef: image.imageRef,
      imageUser: image.user,
      env,
      mounts: [...(grant.mounts ?? []), ...mounts],
      devices: [...(grant.devices ?? []), ...containerDevices(container, volumes)],
      cdiDevices: [...(grant.cdiDevices ?? []), ...(runtime.cluster?.()?.claims.cdiDevices(pod, container) ?? [])],
      annotations: grant.annotations,
      resources: grantedResources(runtime, pod, container, grant),
      targetContainerId: step.targetContainerId,
      seccompDefault: settings.seccompDefault,
      volumeGroups: groupsOf(volumes),
      thermalThrottlePaths: runtime.node.thermalThrottlePaths,
      seccompProfileRoot: seccompProfileRoot(settings.rootDir),
      stopSignals: settings.containerStopSignals,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    const message = messageOf(error);
    const reason = error instanceof CreateContainerConfigError ? error.reason : "CreateContainerConfigError";
    throw new StartContainerError(reason, message, undefined, { cause: error });
  }
}

/**
 * Returns the supplementary groups of all the pod's volumes, also of those that this container does not mount, as
 * upstream.
 */
function groupsOf(volumes: ReadonlyMap<string, VolumePlace>): number[] {
  return [...volumes.values()].flatMap((place) =>
    isImagePlace(place) || place.group === undefined ? [] : [place.group],
  );
}

/** No status of the container is left: its log files still show its number of runs. */
async function countFromLogs(environment: PodEnvironment, step: StartContainerStep): Promise<number> {
  try {
    return nextRestartCount(
      undefined,
      await inUntrustedFolder(join(environment.logDirectory, step.container.name), (path) => namesOf(path)),
    );
  } catch {
    return 0; // no log directory, or none of the kubelet's: it never ran
  }
}

/** Log collectors follow /var/log/containers; a link that can't be made never fails the container. */
async function linkLog(
  runtime: NodeRuntime,
  pod: Pod,
  environment: PodEnvironment,
  step: StartContainerStep,
  restartCount: number,
  containerId: ContainerId,
): Promise<void> {
  const directory = runtime.settings.containerLogsDir;
  const link = join(directory, logSymlinkName(pod, step.container.name, containerId));
  const target = join(environment.logDirectory, containerLogPath(step.container.name, restartCount));
  try {
    await makeLink(target, link);
    environment.logFiles.onLink(link);
  } catch (error) {
    runtime.log.warn({ err: error, link }, `cannot create the log symlink ${link}; log collectors will miss it`);
  }
}

/** The directory is nearly always there, the link hardly ever. */
async function makeLink(target: string, link: string): Promise<void> {
  try {
    await symlink(target, link);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") await mkdir(dirname(link), { recursive: true, mode: 0o755 });
    else if (code === "EEXIST") await rm(link, { force: true });
    else throw error;
    await symlink(target, link);
  }
}
