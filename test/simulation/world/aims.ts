// Faults that wait for the next call of their kind, and happen while it is under way.

import { kernel } from "../kernel/kernel.js";
import type { Random } from "../kernel/random.js";
import type { Trace } from "../kernel/trace.js";
import type { Action } from "../plan/events.js";

type Aim = Extract<Action, { do: "aim" }>;

/** Most calls of the runtime take less. */
const LONGEST_CALL_MS = 4;

export class Aims {
  private waiting: Aim[] = [];

  constructor(
    private readonly random: Random,
    private readonly trace: Trace,
    private readonly act: (fault: Action) => void,
  ) {}

  add(aim: Aim): void {
    this.waiting.push(aim);
  }

  clear(): void {
    this.waiting = [];
  }

  onCall(verb: string): void {
    const hits = this.waiting.filter((aim) => aim.verb === verb);
    if (hits.length === 0) return;
    this.waiting = this.waiting.filter((aim) => !hits.includes(aim));
    for (const { fault } of hits) {
      kernel.after(kernel.world, this.random.between(0, LONGEST_CALL_MS), () => {
        this.trace.add(`aimed ${JSON.stringify(fault)}`);
        this.act(fault);
      });
    }
  }
}
