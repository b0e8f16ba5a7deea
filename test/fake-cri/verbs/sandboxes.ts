// Sandbox verbs.

import {
  ContainerEventType,
  NamespaceMode,
  PodSandboxState,
  type PodSandbox,
  type PodSandboxConfig,
  type PodSandboxFilter,
} from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { FakeSettings, FakeWorld, UnaryVerbs } from "../context.js";
import { Fault } from "../fault.js";
import { matchesLabels } from "../filters.js";
import type { FakeSandbox, FakeState } from "../state.js";

type SandboxVerb =
  | "runPodSandbox"
  | "stopPodSandbox"
  | "removePodSandbox"
  | "podSandboxStatus"
  | "listPodSandbox"
  | "portForward"
  | "updatePodSandboxResources";

export function sandboxVerbs({ state, settings }: FakeWorld): UnaryVerbs<SandboxVerb> {
  return {
    runPodSandbox: ({ config, runtimeHandler }) => ({ podSandboxId: run(state, config, runtimeHandler, settings) }),
    stopPodSandbox: ({ podSandboxId }) => {
      state.endSandbox(state.sandbox(podSandboxId)); // NotFound for an unknown one, as containerd 1.6 says
      return {};
    },
    removePodSandbox: ({ podSandboxId }) => {
      const sandbox = state.sandboxes.get(podSandboxId);
      if (sandbox !== undefined) removeSandbox(state, sandbox);
      return {};
    },
    podSandboxStatus: ({ podSandboxId, verbose }) => ({
      status: state.sandbox(podSandboxId).status,
      info: verbose ? { info: "{}" } : {},
      containersStatuses: [],
      timestamp: 0n,
    }),
    listPodSandbox: ({ filter }) => ({ items: listSandboxes(state, filter) }),
    portForward: (request) => {
      const { podSandboxId } = request;
      state.sandbox(podSandboxId);
      const url = settings.stream?.("portForward", request);
      return { url: url ?? `http://127.0.0.1:1/portforward/${podSandboxId.slice(0, 8)}` };
    },
    updatePodSandboxResources: ({ podSandboxId }) => {
      state.sandbox(podSandboxId);
      return {};
    },
  };
}

function run(
  state: FakeState,
  config: PodSandboxConfig | undefined,
  runtimeHandler: string,
  { room }: FakeSettings,
): string {
  const metadata = config?.metadata;
  if (config === undefined || metadata === undefined || metadata.name === "" || metadata.uid === "") {
    throw new Fault("INVALID_ARGUMENT", "sandbox config must include metadata with name and uid");
  }
  const id = state.newId();
  const noRoom = room?.sandbox(id);
  if (noRoom?.isLeft === false) throw new Fault("UNKNOWN", noRoom.why);
  state.reserve(`${metadata.name}_${metadata.namespace}_${metadata.uid}_${metadata.attempt}`, id);
  const options = config.linux?.securityContext?.namespaceOptions;
  const onHostNetwork = options?.network === NamespaceMode.NODE;
  state.sandboxes.set(id, {
    config,
    containers: new Set(),
    status: {
      id,
      metadata,
      state: noRoom === undefined ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY,
      createdAt: state.nanos(),
      network: { ip: onHostNetwork ? "" : state.newAddress(), additionalIps: [] },
      linux: { namespaces: { options } },
      labels: config.labels,
      annotations: config.annotations,
      runtimeHandler,
    },
  });
  // As containerd keeps a sandbox whose network it could not take down again.
  if (noRoom !== undefined) throw new Fault("UNKNOWN", noRoom.why);
  state.emit(id, ContainerEventType.CONTAINER_CREATED_EVENT, id);
  state.emit(id, ContainerEventType.CONTAINER_STARTED_EVENT, id);
  return id;
}

/** The sandbox and its containers are gone. */
export function removeSandbox(state: FakeState, sandbox: FakeSandbox): void {
  const { id } = sandbox.status;
  state.endSandbox(sandbox);
  for (const containerId of sandbox.containers) state.removeContainer(containerId);
  state.sandboxes.delete(id);
  state.release(id);
  state.emit(id, ContainerEventType.CONTAINER_DELETED_EVENT, id);
}

/** Sandboxes that match every member of the filter; an id may be given by a prefix of it. */
export function listSandboxes(state: FakeState, filter: PodSandboxFilter | undefined): PodSandbox[] {
  const items: PodSandbox[] = [];
  for (const { status } of state.sandboxes.values()) {
    if (filter !== undefined) {
      if (filter.id !== "" && !status.id.startsWith(filter.id)) continue;
      if (filter.state !== undefined && filter.state.state !== status.state) continue;
      if (!matchesLabels(status.labels, filter.labelSelector)) continue;
    }
    const { id, metadata, state: sandboxState, createdAt, labels, annotations, runtimeHandler } = status;
    items.push({ id, metadata, state: sandboxState, createdAt, labels, annotations, runtimeHandler });
  }
  return items;
}
