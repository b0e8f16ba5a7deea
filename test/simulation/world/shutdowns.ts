// Orderly shutdowns of the simulated machine, and faults of what delays them: logind, the bus, and the holder of the
// kubelet's lock.

import { kernel } from "../kernel/kernel.js";
import type { Trace } from "../kernel/trace.js";
import type { Action } from "../plan/events.js";
import type { KubeletLife } from "./kubelet-life.js";
import { Logind } from "./logind.js";
import type { AllFacts } from "./pod-facts.js";

export type ShutdownFault =
  | {
      do: "shutdown";
      /** Time from its end to the next boot. */
      downMs: number;
      /** So long another program delays it. */
      otherMs: number;
      /** It is cancelled after this time, if it still waits. */
      cancelMs?: number;
      /** Another fault that meets it. */
      meets?: { afterMs: number; fault: Action };
    }
  | { do: "bus-away"; ms: number }
  | { do: "bus-slow"; lateMs: number; ms: number }
  | { do: "locks-refused"; ms: number }
  | { do: "lock-lost" }
  | { do: "logind-restarts" };

/** One shutdown. Moments are steady, ms. */
export interface Shutdown {
  readonly beganAt: number;
  /** Since a while, and until now, nothing else disturbs the node. */
  isCalm: boolean;
  /** Absent: it was not. */
  cancelledAt?: number;
  /** The machine ends all processes. Absent: it does not yet. */
  wentAt?: number;
  /** The machine is off, or on again. */
  isOver?: true;
}

interface Surroundings {
  facts: AllFacts;
  trace: Trace;
  life(): KubeletLife;
  /** What the machine loses as it goes off in order. */
  lost(): void;
  act(action: Action): void;
}

/** Without other disturbances and with one kubelet since then, the shutdown is calm. */
const CALM_MS = 90_000;

export class Shutdowns {
  readonly logind = new Logind();
  /** The last one. */
  last: Shutdown | undefined;
  readonly onBegin = new Set<(shutdown: Shutdown) => void>();
  readonly onCancel = new Set<(shutdown: Shutdown) => void>();
  /** Hears that the machine is going to be off at once; the API server still has all that it got. */
  readonly onOff = new Set<(shutdown: Shutdown) => void>();

  constructor(private readonly around: Surroundings) {}

  /** Another fault. */
  disturbed(): void {
    if (this.last !== undefined) this.last.isCalm = false;
  }

  perform(action: ShutdownFault): void {
    const { logind } = this;
    switch (action.do) {
      case "shutdown":
        this.shutDown(action);
        return;
      case "bus-away":
        logind.bus.away(action.ms);
        return;
      case "bus-slow":
        logind.bus.slow(action.lateMs, action.ms);
        return;
      case "locks-refused":
        logind.refuse(action.ms);
        return;
      case "lock-lost":
        logind.killHolders();
        return;
      case "logind-restarts":
        logind.restart();
    }
  }

  /** Power is lost: nothing goes on. */
  reboot(): void {
    this.logind.reboot();
    if (this.last !== undefined) this.last.isOver = true;
  }

  /** A shutdown is a reason for the end of each pod. */
  disturbPods(): void {
    const { facts } = this.around;
    facts.faultEnded(kernel.monotonic);
    facts.disturbed(kernel.monotonic);
    for (const pod of facts.pods.values()) pod.disturbedAt = kernel.monotonic;
  }

  private shutDown({ downMs, otherMs, cancelMs, meets }: Extract<ShutdownFault, { do: "shutdown" }>): void {
    const { around, logind } = this;
    const { facts, trace } = around;
    if (logind.preparing || around.life().isOff) return;
    const now = kernel.monotonic;
    const since = now - CALM_MS;
    const isCalm = facts.lastDisturbedAt < since && (facts.startedAt ?? Infinity) < since && meets === undefined;
    const shutdown: Shutdown = { beganAt: now, isCalm };
    this.last = shutdown;
    facts.lastShutdownAt = now;
    for (const listener of this.onBegin) listener(shutdown);
    this.disturbPods();
    logind.shutDown(otherMs, () => this.go(shutdown, downMs));
    if (cancelMs !== undefined) kernel.after(kernel.world, cancelMs, () => this.cancel(shutdown));
    if (meets === undefined) return;
    kernel.after(kernel.world, meets.afterMs, () => {
      trace.add(`meets ${JSON.stringify(meets.fault)}`);
      around.act(meets.fault);
    });
  }

  private cancel(shutdown: Shutdown): void {
    if (shutdown.isOver === true || shutdown.wentAt !== undefined) return;
    this.around.trace.add("the shutdown is cancelled");
    shutdown.cancelledAt = kernel.monotonic;
    shutdown.isOver = true;
    for (const listener of this.onCancel) listener(shutdown);
    this.disturbPods();
    this.logind.cancel();
  }

  private go(shutdown: Shutdown, downMs: number): void {
    const { around } = this;
    around.trace.add("the machine ends all processes");
    shutdown.wentAt = kernel.monotonic;
    around.life().shutDown(downMs, () => {
      around.trace.add("the machine is off");
      for (const listener of this.onOff) listener(shutdown);
      shutdown.isOver = true;
      this.disturbPods();
      around.lost();
    });
    kernel.after(kernel.world, downMs, () => this.disturbPods());
  }
}
