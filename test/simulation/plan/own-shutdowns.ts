// Pods of several priorities, on a node that ends them in order when the machine shuts down; the shutdowns, and faults
// of what delays them.

import type { Random } from "../kernel/random.js";
import { isShort, type NodeShape } from "../world/node-shape.js";
import { PRIORITIES } from "../world/priorities.js";
import type { ShutdownFault } from "../world/shutdowns.js";
import type { Action } from "./events.js";
import type { PodShape } from "./pod-shapes.js";

const MINUTE = 60_000;
/** Part of the pods that have one. */
const WITH_PRIORITY = 0.7;
/** Part of the faults. */
const FAULTS = 0.25;
/** Part of the rounds that have a shutdown after the calm, and of the shutdowns that are cancelled. */
const QUIET = 0.5;
const CANCELLED = 0.3;
/** After the calm: pods run again, and a shortage is over. */
const QUIET_MS = 5.5 * MINUTE;
/** Without faults one comes in the busy time, too. */
const FIRST_MS = 3 * MINUTE;
/** Pods that are made after each shutdown: it has ended the others. */
const NEW_PODS = 4;
const VERBS = ["StopContainer", "StopPodSandbox", "RemoveContainer", "ListContainers", "ContainerStatus"];

export class OwnShutdowns {
  private readonly longestMs: number;

  constructor(
    private readonly random: Random,
    private readonly node: NodeShape,
  ) {
    this.longestMs = 1000 * (node.shutdown ?? []).reduce((sum, { seconds }) => sum + seconds, 0);
  }

  /** The pod as it is on this node. Where something runs short, priorities would change which pods are evicted. */
  shape(plain: PodShape): PodShape {
    const [priorityClassName, priority] = this.random.pick(PRIORITIES);
    const hasPriority = this.random.chance(WITH_PRIORITY);
    if (isShort(this.node) || !hasPriority || "priority" in plain.spec) return plain;
    return { ...plain, spec: { ...plain.spec, priorityClassName, priority } };
  }

  /** Undefined: the fault is another one. */
  fault(): ShutdownFault | undefined {
    const { random } = this;
    if (!random.chance(FAULTS)) return undefined;
    const ms = 1000 + random.below(60_000);
    switch (random.below(10)) {
      case 0:
        return { do: "bus-away", ms };
      case 1:
        return { do: "bus-slow", lateMs: random.pick([500, 3000, 8000]), ms };
      case 2:
        return { do: "locks-refused", ms };
      case 3:
        return { do: random.pick(["lock-lost", "logind-restarts"] as const) };
      default:
        return this.shutdown();
    }
  }

  /** Events of one round, which is busy until `calm`. */
  events(begin: number, calm: number, hasFaults: boolean): (readonly [atMs: number, action: ShutdownFault])[] {
    const { random } = this;
    const first = [begin + FIRST_MS + random.below(MINUTE), this.quiet()] as const;
    const last = [calm + QUIET_MS, this.quiet()] as const;
    return [...(hasFaults ? [] : [first]), ...(random.chance(QUIET) ? [last] : [])];
  }

  /** Moments at which pods are made, from the moment of a shutdown. */
  newPods(at: number): number[] {
    return Array.from({ length: NEW_PODS }, () => at + this.random.below(2 * MINUTE));
  }

  /** A shutdown that no other fault comes with. */
  private quiet(): ShutdownFault {
    const { random } = this;
    const shutdown = { do: "shutdown", downMs: 5000 + random.below(20_000), otherMs: 0 } as const;
    return random.chance(CANCELLED) ? { ...shutdown, cancelMs: random.below(this.longestMs) } : shutdown;
  }

  private shutdown(): ShutdownFault {
    const { random } = this;
    const shutdown = { ...this.quiet(), otherMs: random.pick([0, 0, 10_000, 60_000]) } as ShutdownFault;
    if (!random.chance(0.7)) return shutdown;
    return { ...shutdown, meets: { afterMs: random.below(this.longestMs), fault: this.other() } } as ShutdownFault;
  }

  /** What meets a shutdown. */
  private other(): Action {
    const { random } = this;
    const ms = 1000 + random.below(30_000);
    switch (random.below(9)) {
      case 0:
      case 1:
        return { do: "kill", downMs: random.pick([0, 1000, 10_000]) };
      case 2:
        return { do: "restart", downMs: random.pick([0, 1000]) };
      case 3:
        return { do: "reboot", downMs: 5000 + random.below(30_000) };
      case 4:
        return { do: "bus-away", ms };
      case 5:
        return { do: "api-away", ms };
      case 6:
        return { do: "api-slow", delayMs: random.below(20_000), ms };
      case 7:
        return { do: "runtime-restart", ms };
      default: {
        const spec = random.pick(["1*hang", "3*error(UNAVAILABLE: lost)", `3*delay(${random.below(20_000)})`]);
        return { do: "runtime-error", verb: random.pick(VERBS), spec, when: random.pick(["before", "after"] as const) };
      }
    }
  }
}
