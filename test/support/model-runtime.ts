// A container runtime as a pure model: applies planner steps to an ObservedPod. Only apply() moves its time.

import { containerHash } from "../../src/main/model/container-hash.js";
import type { Step } from "../../src/main/model/step.js";
import type { Pod } from "../../src/shared/kubernetes/api/pod.js";
import {
  ContainerState,
  ContainerStatus,
  NamespaceMode,
  PodSandboxState,
  PodSandboxStatus,
} from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import {
  type ObservedPod,
  observedContainer,
  observedSandbox,
  type ObservedSandbox,
} from "../../src/shared/kubernetes/cri/observed-pod.js";

export class ModelRuntime {
  readonly observed: ObservedPod;
  /** Milliseconds since the epoch. */
  now = 1_700_000_000_000;
  private serial = 0;
  /** Container id to the sandbox it was made in. */
  private readonly homes = new Map<string, string>();
  cleaned = false;
  released = false;

  constructor(readonly pod: Pod) {
    const { uid, name, namespace } = pod.metadata;
    this.observed = { uid, name, namespace, sandboxes: [], containers: [], generation: 0, observedAt: this.now };
  }

  apply(step: Step): void {
    this.now += 1;
    switch (step.kind) {
      case "create-sandbox":
        this.observed.sandboxes.unshift(
          observedSandbox(
            PodSandboxStatus.fromPartial({
              id: `sandbox-${++this.serial}`,
              metadata: { attempt: step.attempt },
              state: PodSandboxState.SANDBOX_READY,
              createdAt: this.nanos(),
              network: { ip: "10.88.0.2" },
              linux: {
                namespaces: {
                  options: { network: this.pod.spec.hostNetwork === true ? NamespaceMode.NODE : NamespaceMode.POD },
                },
              },
            }),
          ),
        );
        return;
      // Sizes are not part of the model.
      case "resize-containers":
        return;
      case "stop-sandbox":
        this.sandbox(step.sandboxId).state = PodSandboxState.SANDBOX_NOTREADY;
        return;
      case "remove-sandbox":
        this.observed.sandboxes = this.observed.sandboxes.filter((sandbox) => sandbox.id !== step.sandboxId);
        this.observed.containers = this.observed.containers.filter(({ id }) => this.homes.get(id) !== step.sandboxId);
        return;
      case "start-container":
        this.observed.containers.unshift(
          observedContainer(
            ContainerStatus.fromPartial({
              id: this.homeOf(`${step.container.name}-${++this.serial}`, step.sandboxId),
              metadata: { name: step.container.name, attempt: step.restartCount ?? 0 },
              state: ContainerState.CONTAINER_RUNNING,
              createdAt: this.nanos(),
              startedAt: this.nanos(),
              annotations: {
                "io.kubernetes.container.hash": containerHash(step.container),
                "io.kubernetes.container.restartCount": String(step.restartCount ?? 0),
              },
            }),
          ),
        );
        return;
      case "kill-container":
        this.exit(step.name, 137, step.containerId);
        return;
      case "run-pre-stop":
        return;
      case "remove-container":
        this.observed.containers = this.observed.containers.filter((status) => status.id !== step.containerId);
        return;
      case "release":
        this.released = true;
        return;
      case "clean-up":
        this.cleaned = true;
        return;
    }
  }

  /** Ends the newest container of a name, or the one with this id. */
  exit(name: string, exitCode: number, id?: string): void {
    const status = this.observed.containers.find((one) =>
      id === undefined ? one.metadata?.name === name : one.id === id,
    );
    if (status === undefined || status.state === ContainerState.CONTAINER_EXITED) return;
    status.state = ContainerState.CONTAINER_EXITED;
    status.exitCode = exitCode;
    status.reason = exitCode === 0 ? "Completed" : "Error";
    status.finishedAt = this.nanos();
  }

  running(): string[] {
    return this.observed.containers
      .filter((status) => status.state === ContainerState.CONTAINER_RUNNING)
      .map((status) => status.metadata?.name ?? "")
      .sort();
  }

  nanos(): bigint {
    return BigInt(this.now) * 1_000_000n;
  }

  private homeOf(id: string, sandboxId: string): string {
    this.homes.set(id, sandboxId);
    return id;
  }

  private sandbox(id: string): ObservedSandbox {
    const sandbox = this.observed.sandboxes.find((one) => one.id === id);
    if (sandbox === undefined) throw new Error(`the plan names sandbox ${id}, which does not exist`);
    return sandbox;
  }
}
