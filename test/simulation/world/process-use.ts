// Who has the machine's process ids, on a node that runs short of them: containers as their pod's shape says, and
// programs beside the pods at times most of the rest.

import { ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { simulateProcesses } from "../disk/cgroup-inodes.js";
import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import { podNameOf, type AllFacts } from "./pod-facts.js";
import type { SimulatedRuntime } from "./runtime.js";
import type { Signals } from "./signals.js";

/** /proc/sys/kernel/threads-max of the machine. */
const MOST = 120_000;
const USUAL = 200;

/** So many fewer than the threshold are available when it begins. */
export interface ProcessFault {
  do: "pids-short";
  below: "hard" | "soft";
  missing: number;
  ms: number;
}

export class ProcessUse {
  private others = USUAL;

  constructor(
    private readonly runtime: SimulatedRuntime,
    private readonly facts: AllFacts,
    private readonly signals: Signals,
  ) {
    signals.add("pid.available", { capacity: MOST, available: () => MOST - this.others - this.ofPods() });
    simulateProcesses((id) => this.ofContainer(id));
    disk.kernelFile("/proc/loadavg", () => {
      signals.read("pid.available");
      return `0.10 0.10 0.10 1/${this.others + this.ofPods()} 4242\n`;
    });
  }

  perform({ below, missing, ms }: ProcessFault): void {
    const { signals } = this;
    const taken = signals.available("pid.available") - signals.valueOf("pid.available", below) + missing;
    if (taken <= 0) return;
    const now = (this.others += taken);
    const beganAt = kernel.monotonic;
    kernel.after(kernel.world, ms, () => {
      if (this.others !== now) return;
      signals.shortageEnds("pid.available", beganAt);
      this.others = USUAL;
    });
  }

  ofPod(name: string): number {
    return this.sum((pod) => pod === name);
  }

  private ofPods(): number {
    return this.sum(() => true);
  }

  private sum(has: (pod: string) => boolean): number {
    const own = [...this.runtime.state.containers].filter(([, { config }]) => has(podNameOf(config.labels)));
    return own.reduce((sum, [id]) => sum + this.ofContainer(id), 0);
  }

  /** 0 unless it runs. A sandbox has one. */
  private ofContainer(id: string): number {
    const container = this.runtime.state.containers.get(id);
    if (container === undefined) return this.runtime.state.sandboxes.has(id) ? 1 : 0;
    if (container.status.state !== ContainerState.CONTAINER_RUNNING) return 0;
    const shape = this.facts.pods.get(podNameOf(container.config.labels))?.shape;
    return shape?.processes?.[container.config.metadata?.name ?? ""] ?? 1;
  }
}
