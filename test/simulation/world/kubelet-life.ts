// The life of the kubelet's process on the simulated machine: systemd starts it, and starts it anew after each end.

import type { Logger } from "../../../src/shared/telemetry/log/logger.js";
import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import type { Trace } from "../kernel/trace.js";
import { Kubelet } from "./kubelet.js";
import type { NodeShape } from "./node-shape.js";
import type { AllFacts } from "./pod-facts.js";

/** systemd's pause before the next start. */
const RESTART_MS = 1000;
/** systemd kills a process that does not end so long after SIGTERM. */
const STOP_MS = 20_000;

interface Surroundings {
  node: NodeShape;
  facts: AllFacts;
  trace: Trace;
  log: Logger;
  /** Hears of each start, before it. */
  starts(): void;
  gaveUp(reason: string): void;
}

export class KubeletLife {
  /** The present process, or the last one. */
  kubelet: Kubelet | undefined;
  private starts = 0;
  /** The machine has no power. */
  isOff = false;
  /** The shutdown of the machine that ends all processes. */
  private goingOff: object | undefined;

  constructor(private readonly around: Surroundings) {}

  /** Nothing happens while the machine is off or the kubelet runs. */
  start(): void {
    if (this.isOff || this.goingOff !== undefined || this.kubelet?.isAlive === true) return;
    const { facts, trace, log, node } = this.around;
    const number = ++this.starts;
    const events = {
      started: () => {
        facts.kubeletStarted(kernel.monotonic);
      },
      gaveUp: (reason: string) => {
        facts.kubeletEnded(kernel.monotonic);
        trace.add(`kubelet ${number} ends: ${reason}`);
        this.around.gaveUp(reason);
        this.startAfter(0);
      },
    };
    this.around.starts();
    facts.launchedAt = kernel.monotonic;
    this.kubelet = new Kubelet(number, log, events, node);
    trace.add(`kubelet ${number} starts`);
    this.noteUnreadableStart();
  }

  /** Call when the disk begins to fail. */
  noteUnreadableStart(): void {
    if (disk.fault?.kind === "EIO" && this.kubelet?.agent === undefined)
      this.around.facts.lastUnreadableStartAt = kernel.monotonic;
  }

  kill(downMs: number): void {
    this.kubelet?.kill();
    this.around.facts.kubeletEnded(kernel.monotonic);
    this.startAfter(downMs);
  }

  restart(downMs: number): void {
    const { kubelet } = this;
    if (kubelet?.isAlive !== true) return;
    this.around.facts.kubeletEnded(kernel.monotonic);
    kubelet.stop(() => this.startAfter(downMs));
  }

  /** The machine has no power; it is on again after `downMs`. `lost` ends everything else. */
  reboot(downMs: number, lost: () => void): void {
    if (this.isOff) return;
    const { facts } = this.around;
    this.isOff = true;
    this.goingOff = undefined;
    this.kubelet?.kill();
    facts.kubeletEnded(kernel.monotonic);
    facts.lastRebootAt = kernel.monotonic;
    facts.hasStartedSinceReboot = false;
    lost();
    kernel.after(kernel.world, downMs, () => {
      this.isOff = false;
      this.start();
    });
  }

  /** The machine ends the kubelet and then all else, and is on again after `downMs`. Otherwise as `reboot`. */
  shutDown(downMs: number, lost: () => void): void {
    if (this.isOff || this.goingOff !== undefined) return;
    const going = (this.goingOff = {});
    const off = (): void => {
      if (this.goingOff === going) this.reboot(downMs, lost);
    };
    if (this.kubelet?.isAlive !== true) {
      off();
      return;
    }
    this.around.facts.kubeletEnded(kernel.monotonic);
    this.kubelet.stop(off);
    kernel.after(kernel.world, STOP_MS, off);
  }

  private startAfter(downMs: number): void {
    kernel.after(kernel.world, downMs + RESTART_MS, () => this.start());
  }
}
