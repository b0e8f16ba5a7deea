// What the runtime loses by itself, or by somebody else's hand: containers and sandboxes end, and records of them go.

import { ContainerState, PodSandboxState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { FakeSandbox } from "../../fake-cri/state.js";
import { removeSandbox } from "../../fake-cri/verbs/sandboxes.js";
import { kernel } from "../kernel/kernel.js";
import type { Trace } from "../kernel/trace.js";
import { podNameOf, type AllFacts } from "./pod-facts.js";
import type { SimulatedRuntime } from "./runtime.js";

export class Losses {
  constructor(
    private readonly runtime: SimulatedRuntime,
    private readonly facts: AllFacts,
    private readonly trace: Trace,
  ) {}

  /** A running container is killed, as for its memory. `pick` chooses it. */
  endContainer(pick: number): void {
    const running = [...this.runtime.state.containers.values()].filter(
      ({ status }) => status.state === ContainerState.CONTAINER_RUNNING,
    );
    const chosen = running[pick % Math.max(1, running.length)];
    if (chosen === undefined) return;
    this.trace.add(`dies ${podNameOf(chosen.config.labels)} ${chosen.config.metadata?.name ?? ""}`);
    this.disturb(chosen.config.labels);
    this.runtime.state.end(chosen, 137, "OOMKilled");
  }

  /** A ready sandbox ends with its containers. `pick` chooses it. */
  endSandbox(pick: number): FakeSandbox | undefined {
    const ready = [...this.runtime.state.sandboxes.values()].filter(
      ({ status }) => status.state === PodSandboxState.SANDBOX_READY,
    );
    const chosen = ready[pick % Math.max(1, ready.length)];
    if (chosen === undefined) return undefined;
    this.trace.add(`dies the sandbox of ${podNameOf(chosen.config.labels)}`);
    this.disturb(chosen.config.labels);
    this.runtime.state.endSandbox(chosen);
    return chosen;
  }

  /**
   * Somebody removes all sandboxes of a pod with their containers, as `crictl rmp -f` does. If older ones were left,
   * the next container would count its restarts from theirs, as upstream's does.
   */
  forgetPod(pick: number): void {
    const { state } = this.runtime;
    const chosen = this.endSandbox(pick);
    const uid = chosen?.config.metadata?.uid;
    if (chosen === undefined || uid === undefined) return;
    this.forget(chosen.config.labels);
    for (const sandbox of [...state.sandboxes.values()]) {
      if (sandbox.config.metadata?.uid === uid) removeSandbox(state, sandbox);
    }
  }

  /** Somebody removes all sandboxes that are not ready, with their containers: `crictl rmp` of what has ended. */
  pruneSandboxes(): void {
    const { state } = this.runtime;
    for (const sandbox of [...state.sandboxes.values()]) {
      if (sandbox.status.state === PodSandboxState.SANDBOX_READY) continue;
      this.trace.add(`pruned a sandbox of ${podNameOf(sandbox.config.labels)}`);
      this.disturb(sandbox.config.labels);
      this.forget(sandbox.config.labels);
      removeSandbox(state, sandbox);
    }
  }

  private forget(labels: Readonly<Record<string, string>>): void {
    const facts = this.facts.pods.get(podNameOf(labels));
    if (facts !== undefined) facts.forgottenAt = kernel.monotonic;
  }

  private disturb(labels: Readonly<Record<string, string>>): void {
    const facts = this.facts.pods.get(podNameOf(labels));
    if (facts !== undefined) facts.disturbedAt = kernel.monotonic;
  }
}
