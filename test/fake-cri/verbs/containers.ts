// Container verbs but exec and stop.

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import {
  ContainerEventType,
  ContainerState,
  PodSandboxState,
  Signal,
  type Container,
  type ContainerFilter,
  type CreateContainerRequest,
  type LinuxContainerResources,
  type Mount,
} from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { FakeSettings, FakeWorld, UnaryVerbs } from "../context.js";
import { Fault } from "../fault.js";
import { matchesLabels } from "../filters.js";
import type { FakeState } from "../state.js";

type ContainerVerb =
  | "createContainer"
  | "startContainer"
  | "removeContainer"
  | "containerStatus"
  | "listContainers"
  | "updateContainerResources"
  | "reopenContainerLog"
  | "checkpointContainer";

export function containerVerbs({ state, settings }: FakeWorld): UnaryVerbs<ContainerVerb> {
  return {
    createContainer: (request) => ({ containerId: create(state, request, settings) }),
    startContainer: ({ containerId }) => {
      start(state, containerId, settings.startFails);
      return {};
    },
    removeContainer: ({ containerId }) => {
      state.removeContainer(containerId);
      return {};
    },
    containerStatus: ({ containerId, verbose }) => ({
      status: state.container(containerId).status,
      info: verbose ? { info: "{}" } : {},
    }),
    listContainers: ({ filter }) => ({ containers: listContainers(state, filter) }),
    updateContainerResources: ({ containerId, linux, windows }) => {
      const { status } = state.container(containerId);
      status.resources = { linux: updated(status.resources?.linux, linux), windows };
      return {};
    },
    reopenContainerLog: ({ containerId }) => {
      requireRunning(state, containerId);
      settings.reopenLog?.(state.container(containerId));
      return {};
    },
    checkpointContainer: ({ containerId }) => {
      requireRunning(state, containerId);
      return {};
    },
  };
}

/** As containerd: a value that is not given stays as it is. */
function updated(
  had: LinuxContainerResources | undefined,
  given: LinuxContainerResources | undefined,
): LinuxContainerResources | undefined {
  if (had === undefined || given === undefined) return given ?? had;
  const isGiven = ([, value]: [string, unknown]): boolean =>
    value !== 0n && value !== "" && !(Array.isArray(value) && value.length === 0);
  const unified = { ...had.unified, ...given.unified };
  return { ...had, ...Object.fromEntries(Object.entries(given).filter(isGiven)), unified };
}

function create(
  state: FakeState,
  { podSandboxId, config }: CreateContainerRequest,
  { mountDigests, room }: FakeSettings,
): string {
  const sandbox = state.sandbox(podSandboxId);
  const metadata = config?.metadata;
  if (config === undefined || metadata === undefined || metadata.name === "") {
    throw new Fault("INVALID_ARGUMENT", "container config must include metadata with a name");
  }
  if (sandbox.status.state !== PodSandboxState.SANDBOX_READY) {
    throw new Fault("NOT_FOUND", `failed to get sandbox container task: task ${podSandboxId} not found: not found`);
  }
  const reference = config.image?.image ?? "";
  const image = state.image(reference);
  if (image === undefined) throw new Fault("NOT_FOUND", `failed to resolve image "${reference}": not found`);
  const id = state.newId();
  const noRoom = room?.container(id);
  if (noRoom !== undefined) throw new Fault("UNKNOWN", noRoom);
  state.reserve(`${metadata.name}_${podSandboxId}_${metadata.attempt}`, id);
  state.containers.set(id, {
    config,
    sandboxId: podSandboxId,
    ignoresTerm: false,
    ended: new Set(),
    status: {
      id,
      metadata,
      state: ContainerState.CONTAINER_CREATED,
      createdAt: state.nanos(),
      startedAt: 0n,
      finishedAt: 0n,
      exitCode: 0,
      image: config.image,
      imageRef: image.repoDigests[0] ?? image.id,
      reason: "",
      message: "",
      labels: config.labels,
      annotations: config.annotations,
      mounts: mountDigests ? config.mounts.map((mount) => withDigest(state, mount)) : config.mounts,
      logPath: `${sandbox.config.logDirectory}/${config.logPath}`,
      resources: { linux: config.linux?.resources, windows: undefined },
      imageId: image.id,
      user: undefined,
      stopSignal: Signal.RUNTIME_DEFAULT,
    },
  });
  sandbox.containers.add(id);
  state.emit(id, ContainerEventType.CONTAINER_CREATED_EVENT, podSandboxId);
  return id;
}

function withDigest(state: FakeState, mount: Mount): Mount {
  const image = mount.image && state.image(mount.image.image);
  return image && mount.image
    ? { ...mount, image: { ...mount.image, imageRef: image.repoDigests[0] ?? image.id } }
    : mount;
}

/** As CRI-O's conmon, which makes no folder. Paths of sandboxes that are not on this machine are not looked at. */
function openLog(logDirectory: string, logPath: string): void {
  if (logDirectory === "" || !existsSync(logDirectory) || existsSync(dirname(logPath))) return;
  throw new Fault("UNKNOWN", `conmon: Failed to open log file: No such file or directory: ${logPath}`);
}

function start(state: FakeState, id: string, startFails: FakeSettings["startFails"]): void {
  const container = state.container(id);
  const { status } = container;
  if (status.state !== ContainerState.CONTAINER_CREATED) {
    throw new Fault("UNKNOWN", `container "${id}" is in ${ContainerState[status.state]} state`);
  }
  if (state.sandbox(container.sandboxId).status.state !== PodSandboxState.SANDBOX_READY) {
    throw new Fault("UNKNOWN", `sandbox container "${container.sandboxId}" is not running`);
  }
  openLog(state.sandbox(container.sandboxId).config.logDirectory, status.logPath);
  const failure = startFails(container.config);
  if (failure !== undefined) {
    // As containerd leaves it: exited with 128 without ever having started.
    Object.assign(status, { state: ContainerState.CONTAINER_EXITED, exitCode: 128, reason: "StartError" });
    Object.assign(status, { message: failure, finishedAt: state.nanos() });
    throw new Fault("UNKNOWN", `failed to create containerd task: ${failure}: unknown`);
  }
  status.state = ContainerState.CONTAINER_RUNNING;
  status.startedAt = state.nanos();
  state.emit(id, ContainerEventType.CONTAINER_STARTED_EVENT, container.sandboxId);
}

function requireRunning(state: FakeState, id: string): void {
  const { status } = state.container(id);
  if (status.state !== ContainerState.CONTAINER_RUNNING) throw new Fault("UNKNOWN", `container "${id}" is not running`);
}

/** Containers that match every member of the filter; ids may be given by a prefix. */
export function listContainers(state: FakeState, filter: ContainerFilter | undefined): Container[] {
  const found: Container[] = [];
  for (const { status, sandboxId } of state.containers.values()) {
    if (filter !== undefined) {
      if (filter.id !== "" && !status.id.startsWith(filter.id)) continue;
      if (filter.podSandboxId !== "" && !sandboxId.startsWith(filter.podSandboxId)) continue;
      if (filter.state !== undefined && filter.state.state !== status.state) continue;
      if (!matchesLabels(status.labels, filter.labelSelector)) continue;
    }
    const { id, metadata, image, imageRef, createdAt, labels, annotations, imageId } = status;
    found.push({
      id,
      podSandboxId: sandboxId,
      metadata,
      image,
      imageRef,
      state: status.state,
      createdAt,
      labels,
      annotations,
      imageId,
    });
  }
  return found;
}
