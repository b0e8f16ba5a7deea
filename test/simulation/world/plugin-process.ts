// The process of a plugin of the simulated machine: it answers calls after a while, and faults meet it.
// Invariant: a call takes effect at one moment; a fault may fail it before or after that. Calls that go on without
// their caller take effect in the order in which they came.

import { kernel } from "../kernel/kernel.js";
import type { Reply, Served } from "./runtime.js";

/** Faults of a plugin whose name they begin with. */
export type ProcessFault<Plugin extends string> =
  | { do: `${Plugin}-away`; ms: number }
  /** Calls take longer. */
  | { do: `${Plugin}-slow`; lateMs: number; ms: number }
  /** A part of the calls fails; "after": they took effect. */
  | { do: `${Plugin}-fails`; share: number; when: "before" | "after"; ms: number };

/** The plugin's own answer to a call: the caller gets its code. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
  constructor(readonly code: number) {
    super(`the driver refuses with code ${code}`);
  }
}

interface Failing {
  share: number;
  when: "before" | "after";
}

const MOST_ANSWER_MS = 50;
const UNAVAILABLE = { code: 14, details: "the driver has ended" };

interface Options {
  /** Performs a call, and returns the bytes of its answer. @throws what the caller gets as an error */
  perform: (path: string, bytes: Buffer) => Buffer;
  /** A call that its caller has given up still takes effect. */
  goesOn: boolean;
}

export class PluginProcess {
  isUp = true;
  private lateMs = 0;
  private failing: Failing | undefined;
  /** Moment of the last effect that is due. */
  private lastAt = 0;
  /** Calls of an earlier boot have no effect. */
  private boot = 0;

  constructor(private readonly options: Options) {}

  away(ms: number, onReturn: () => void = () => undefined): void {
    this.isUp = false;
    kernel.after(kernel.world, ms, () => {
      this.isUp = true;
      onReturn();
    });
  }

  slow(lateMs: number, ms: number): void {
    this.lateMs = lateMs;
    kernel.after(kernel.world, ms, () => {
      this.lateMs = 0;
    });
  }

  fails(failing: Failing, ms: number): void {
    this.failing = failing;
    kernel.after(kernel.world, ms, () => {
      this.failing = undefined;
    });
  }

  reboot(): void {
    this.boot++;
    this.lastAt = 0;
  }

  call(path: string, bytes: Buffer, reply: Reply): Served {
    const { boot, options } = this;
    const ms = kernel.random.between(1, MOST_ANSWER_MS) + this.lateMs;
    const waitMs = options.goesOn ? Math.max(this.lastAt - kernel.monotonic, ms) : ms;
    this.lastAt = kernel.monotonic + waitMs;
    const timer = kernel.after(kernel.world, waitMs, () => {
      if (this.boot === boot) this.answer(path, bytes, reply);
    });
    return { cancel: () => (options.goesOn ? undefined : timer.cancel()) };
  }

  private answer(path: string, bytes: Buffer, reply: Reply): void {
    const { failing } = this;
    const fails = failing !== undefined && kernel.random.chance(failing.share);
    if (!this.isUp || (fails && failing.when === "before")) {
      reply.failed(this.isUp ? { code: 13, details: "an error of the driver" } : UNAVAILABLE);
      return;
    }
    try {
      const answer = this.options.perform(path, bytes);
      if (fails) reply.failed(UNAVAILABLE);
      else reply.message(answer);
    } catch (error) {
      reply.failed({ code: error instanceof RefusedError ? error.code : 13, details: String(error) });
    }
  }
}
