// What the machine's memory is used for, on a node that runs short of it: containers use what their pod's shape says,
// and programs beside the pods take most of the rest at times.

import { ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { FakeContainer } from "../../fake-cri/state.js";
import { simulateMemory } from "../disk/cgroup-inodes.js";
import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import { MACHINE_MIB } from "./node-shape.js";
import { podNameOf, type AllFacts } from "./pod-facts.js";
import type { SimulatedRuntime } from "./runtime.js";
import type { Signals } from "./signals.js";

/** Programs beside the pods. */
const USUAL_MIB = 2048;
const MIB = 1024 * 1024;

/** `leftMiB` are available when it begins. */
export interface MemoryFault {
  do: "memory-short";
  leftMiB: number;
  ms: number;
}

export class MemoryUse {
  private othersMiB = USUAL_MIB;

  constructor(
    private readonly runtime: SimulatedRuntime,
    private readonly facts: AllFacts,
    private readonly signals: Signals,
  ) {
    signals.add("memory.available", { capacity: MACHINE_MIB * MIB, available: () => this.availableMiB * MIB });
    simulateMemory((id) => this.ofContainer(this.runtime.state.containers.get(id)) * MIB);
    disk.kernelFile("/proc/meminfo", () => {
      signals.read("memory.available");
      const free = this.availableMiB * 1024;
      return `MemTotal: ${MACHINE_MIB * 1024} kB\nMemFree: ${free} kB\nMemAvailable: ${free} kB\nSwapTotal: 0 kB\n`;
    });
    disk.kernelFile("/sys/fs/cgroup/memory.stat", () => "anon 1000000\ninactive_file 0\n");
  }

  /** Takes memory for a time. */
  perform({ leftMiB, ms }: MemoryFault): void {
    const taken = MACHINE_MIB - this.podsMiB() - leftMiB;
    if (taken <= this.othersMiB) return;
    this.othersMiB = taken;
    const beganAt = kernel.monotonic;
    kernel.after(kernel.world, ms, () => {
      if (this.othersMiB !== taken) return;
      this.signals.shortageEnds("memory.available", beganAt);
      this.othersMiB = USUAL_MIB;
    });
  }

  /** MiB of a pod. */
  ofPod(name: string): number {
    return this.sum((container) => podNameOf(container.config.labels) === name);
  }

  private get availableMiB(): number {
    return Math.max(0, MACHINE_MIB - this.othersMiB - this.podsMiB());
  }

  private podsMiB(): number {
    return this.sum(() => true);
  }

  private sum(has: (container: FakeContainer) => boolean): number {
    const all = [...this.runtime.state.containers.values()].filter(has);
    return all.reduce((sum, container) => sum + this.ofContainer(container), 0);
  }

  /** 0 unless it runs. */
  private ofContainer(container: FakeContainer | undefined): number {
    if (container?.status.state !== ContainerState.CONTAINER_RUNNING) return 0;
    const shape = this.facts.pods.get(podNameOf(container.config.labels))?.shape;
    return shape?.useMiB?.[container.config.metadata?.name ?? ""] ?? 0;
  }
}
