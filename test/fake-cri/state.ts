// State of the fake runtime: sandboxes, containers and images, with the transitions of a real runtime.
// State outlives stop() and start(), as containerd's does.

import { randomBytes } from "node:crypto";
import {
  ContainerEventType,
  ContainerState,
  PodSandboxState,
  type ContainerConfig,
  type ContainerEventResponse,
  type ContainerStatus,
  type Image,
  type PodSandboxConfig,
  type PodSandboxStatus,
} from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { copyOf } from "../support/copy-of.js";
import { Fault } from "./fault.js";

export interface FakeSandbox {
  status: PodSandboxStatus;
  config: PodSandboxConfig;
  containers: Set<string>;
}

export interface FakeContainer {
  status: ContainerStatus;
  config: ContainerConfig;
  sandboxId: string;
  /** Does not end on the stop signal: only SIGKILL after the grace ends it. */
  ignoresTerm: boolean;
  /** Called when it has ended. */
  ended: Set<() => void>;
}

function machineNanos(): bigint {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
}

export class FakeState {
  readonly sandboxes = new Map<string, FakeSandbox>();
  readonly containers = new Map<string, FakeContainer>();
  readonly images = new Map<string, Image>();
  /** Names taken by sandboxes and containers, those still being made included, with the id that holds them. */
  readonly names = new Map<string, string>();
  readonly eventListeners = new Set<(event: ContainerEventResponse) => void>();
  #lastNanos = 0n;
  #nextAddress = 2;

  /** `wallNanos`: default the machine's clock. */
  constructor(private readonly wallNanos: () => bigint = machineNanos) {}

  newId(): string {
    return randomBytes(32).toString("hex");
  }

  /** Wall time in nanoseconds; never the same twice, so that newest-first has one answer. */
  nanos(): bigint {
    const now = this.wallNanos();
    this.#lastNanos = now > this.#lastNanos ? now : this.#lastNanos + 1n;
    return this.#lastNanos;
  }

  newAddress(): string {
    const host = this.#nextAddress++;
    return `10.88.${(host >> 8) & 255}.${host & 255}`;
  }

  /** Reserves a name for an id, or fails as the runtime does. */
  reserve(name: string, id: string): void {
    const holder = this.names.get(name);
    if (holder !== undefined) throw new Fault("ALREADY_EXISTS", `name "${name}" is reserved for "${holder}"`);
    this.names.set(name, id);
  }

  release(id: string): void {
    for (const [name, holder] of this.names) if (holder === id) this.names.delete(name);
  }

  sandbox(id: string): FakeSandbox {
    const found = this.sandboxes.get(id);
    if (found === undefined)
      throw new Fault("NOT_FOUND", `an error occurred when try to find sandbox: not found: ${id}`);
    return found;
  }

  container(id: string): FakeContainer {
    const found = this.containers.get(id);
    if (found === undefined)
      throw new Fault("NOT_FOUND", `an error occurred when try to find container "${id}": not found`);
    return found;
  }

  image(reference: string): Image | undefined {
    const wanted = reference.includes(":", reference.lastIndexOf("/") + 1) ? reference : `${reference}:latest`;
    for (const image of this.images.values()) {
      if (image.id === reference || image.repoTags.includes(wanted) || image.repoDigests.includes(reference))
        return image;
    }
    return undefined;
  }

  /** The container's process ends. Does nothing when it does not run. */
  end(container: FakeContainer, exitCode: number, reason?: string): void {
    const { status } = container;
    if (status.state !== ContainerState.CONTAINER_RUNNING) return;
    status.state = ContainerState.CONTAINER_EXITED;
    status.exitCode = exitCode;
    status.finishedAt = this.nanos();
    status.reason = reason ?? (exitCode === 0 ? "Completed" : "Error");
    for (const listener of container.ended) listener();
    container.ended.clear();
    this.emit(status.id, ContainerEventType.CONTAINER_STOPPED_EVENT, container.sandboxId);
  }

  /** The sandbox's pause process ends: not ready, and every container in it killed. */
  endSandbox(sandbox: FakeSandbox): void {
    for (const id of sandbox.containers) {
      const container = this.containers.get(id);
      if (container !== undefined) this.end(container, 137);
    }
    if (sandbox.status.state === PodSandboxState.SANDBOX_NOTREADY) return;
    sandbox.status.state = PodSandboxState.SANDBOX_NOTREADY;
    this.emit(sandbox.status.id, ContainerEventType.CONTAINER_STOPPED_EVENT, sandbox.status.id);
  }

  removeContainer(id: string): void {
    const container = this.containers.get(id);
    if (container === undefined) return;
    this.end(container, 137);
    this.containers.delete(id);
    this.sandboxes.get(container.sandboxId)?.containers.delete(id);
    this.release(id);
    this.emit(id, ContainerEventType.CONTAINER_DELETED_EVENT, container.sandboxId);
  }

  /** Tells every event stream; sandboxes have events of their own, under their id. */
  emit(containerId: string, type: ContainerEventType, sandboxId: string): void {
    if (this.eventListeners.size === 0) return;
    const sandbox = this.sandboxes.get(sandboxId);
    const event: ContainerEventResponse = {
      containerId,
      containerEventType: type,
      createdAt: this.nanos(),
      podSandboxStatus: sandbox === undefined ? undefined : copyOf(sandbox.status),
      containersStatuses: this.statusesOf(sandbox),
    };
    for (const listener of this.eventListeners) listener(event);
  }

  /** Copies of the statuses of a sandbox's containers. */
  statusesOf(sandbox: FakeSandbox | undefined): ContainerStatus[] {
    const all: ContainerStatus[] = [];
    for (const id of sandbox?.containers ?? []) {
      const container = this.containers.get(id);
      if (container !== undefined) all.push(copyOf(container.status));
    }
    return all;
  }
}
