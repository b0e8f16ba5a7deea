// docker's containers as CRI shows them. Pure.

import type Docker from "dockerode";
import {
  ContainerState,
  Signal,
  type Container,
  type ContainerStatus,
  type ImageSpec,
} from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { nanosOf } from "../engine/times.js";
import { containerMetadata, criLabels, LOG_PATH_LABEL, SANDBOX_ID_LABEL } from "../names.js";
import { criMounts } from "./mounts.js";
import { criResources } from "./resources.js";

/** `docker ps` and `docker inspect` use the same words. @internal */
export function stateOf(state: string): ContainerState {
  switch (state) {
    case "created":
      return ContainerState.CONTAINER_CREATED;
    case "running":
    case "paused":
    case "restarting":
      return ContainerState.CONTAINER_RUNNING;
    case "exited":
    case "dead":
    case "removing":
      return ContainerState.CONTAINER_EXITED;
    default:
      return ContainerState.CONTAINER_UNKNOWN;
  }
}

export function listedContainer(found: Docker.ContainerInfo): Container {
  const { Id, Labels, State, Created, Image, ImageID, Names } = found;
  return {
    id: Id,
    podSandboxId: Labels[SANDBOX_ID_LABEL] ?? "",
    metadata: containerMetadata(Names[0] ?? ""),
    image: imageSpec(Image),
    imageRef: ImageID,
    imageId: ImageID,
    state: stateOf(State),
    createdAt: BigInt(Created) * 1_000_000_000n,
    ...criLabels(Labels),
  };
}

/** @param image the container's image; undefined: it was removed */
export function containerStatus(
  found: Docker.ContainerInspectInfo,
  image: { RepoTags: string[]; RepoDigests: string[] } | undefined,
): ContainerStatus {
  const { Id, Name, State, Config, HostConfig } = found;
  // A container that could not start has the exit code of the failure, and a time of its end.
  const neverStarted = nanosOf(State.StartedAt) === 0n;
  const state = neverStarted && State.ExitCode !== 0 ? ContainerState.CONTAINER_EXITED : stateOf(State.Status);
  const exited = state === ContainerState.CONTAINER_EXITED;
  const createdAt = nanosOf(found.Created);
  return {
    id: Id,
    metadata: containerMetadata(Name),
    state,
    createdAt,
    startedAt: state === ContainerState.CONTAINER_CREATED ? 0n : startedAt(found, createdAt),
    finishedAt: exited ? finishedAt(found, createdAt) : 0n,
    exitCode: exited ? State.ExitCode : 0,
    reason: exited ? reasonOf(State, neverStarted) : "",
    message: exited ? State.Error : "",
    image: imageSpec(image?.RepoTags[0] ?? Config.Image),
    imageRef: image?.RepoDigests[0] ?? found.Image,
    imageId: found.Image,
    mounts: criMounts(found.Mounts),
    logPath: Config.Labels[LOG_PATH_LABEL] ?? "",
    resources: { linux: criResources(HostConfig), windows: undefined },
    user: undefined,
    stopSignal: Signal.RUNTIME_DEFAULT,
    ...criLabels(Config.Labels),
  };
}

function startedAt({ State }: Docker.ContainerInspectInfo, createdAt: bigint): bigint {
  const time = nanosOf(State.StartedAt);
  return time === 0n ? createdAt : time;
}

function finishedAt({ State }: Docker.ContainerInspectInfo, createdAt: bigint): bigint {
  const time = nanosOf(State.FinishedAt);
  return time === 0n ? createdAt : time;
}

/** Upstream's words. */
function reasonOf({ OOMKilled, ExitCode }: Docker.ContainerInspectInfo["State"], neverStarted: boolean): string {
  if (neverStarted) return "ContainerCannotRun";
  if (OOMKilled) return "OOMKilled";
  return ExitCode === 0 ? "Completed" : "Error";
}

export function imageSpec(image: string): ImageSpec {
  return { image, annotations: {}, userSpecifiedImage: image, runtimeHandler: "", imageRef: "" };
}
