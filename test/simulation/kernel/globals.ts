// Replaces the clock, the timers and the random numbers of this process by those of the kernel. The bundle's first
// import: no module of the agent is evaluated before.

import { kernel, type Handle } from "./kernel.js";

const RealDate = Date;

class SimulatedDate extends RealDate {
  // A date from a number, a text or parts is the same as everywhere.
  constructor(...parts: unknown[]) {
    if (parts.length === 0) super(kernel.wall);
    else super(...(parts as [number]));
  }
  static override now(): number {
    return Math.floor(kernel.wall);
  }
  static override [Symbol.hasInstance](value: unknown): boolean {
    return Object.prototype.toString.call(value) === "[object Date]";
  }
}

class SimulatedTimeout {
  private handle: Handle | undefined;

  constructor(
    private readonly fn: () => void,
    private readonly ms: number,
    private readonly repeats: boolean,
  ) {
    this.arm();
  }
  cancel(): void {
    this.handle?.cancel();
    this.handle = undefined;
  }
  close(): this {
    this.cancel();
    return this;
  }
  refresh(): this {
    this.cancel();
    this.arm();
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
  [Symbol.dispose](): void {
    this.cancel();
  }

  private arm(): void {
    this.handle = kernel.after(kernel.current, this.ms, () => {
      if (this.repeats) this.arm();
      this.fn();
    });
  }
}

type Callback = (...values: unknown[]) => void;

function timeout(repeats: boolean) {
  return (fn: Callback, ms = 0, ...values: unknown[]): SimulatedTimeout =>
    new SimulatedTimeout(() => fn(...values), Math.max(1, Math.trunc(ms)), repeats);
}

function clear(timer: unknown): void {
  if (timer instanceof SimulatedTimeout) timer.cancel();
}

function immediate(fn: Callback, ...values: unknown[]): SimulatedImmediate {
  const made = new SimulatedImmediate();
  kernel.post(kernel.current, () => {
    if (!made.isCancelled) fn(...values);
  });
  return made;
}

class SimulatedImmediate {
  isCancelled = false;
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}

/** Sleepers on words of shared memory. */
const sleepers = new WeakMap<ArrayBufferLike, { index: number; wake: () => void }[]>();

function waitAsync(words: Int32Array, index: number, expected: number): { async: boolean; value: unknown } {
  if (Atomics.load(words, index) !== expected) return { async: false, value: "not-equal" };
  const owner = kernel.current;
  const value = new Promise<string>((resolve) => {
    const list = sleepers.get(words.buffer) ?? [];
    list.push({ index: words.byteOffset + index * 4, wake: () => kernel.post(owner, () => resolve("ok")) });
    sleepers.set(words.buffer, list);
  });
  return { async: true, value };
}

function notify(words: Int32Array, index: number): number {
  const list = sleepers.get(words.buffer) ?? [];
  const at = words.byteOffset + index * 4;
  const woken = list.filter((sleeper) => sleeper.index === at);
  if (woken.length === 0) return 0;
  const left = list.filter((sleeper) => sleeper.index !== at);
  if (left.length === 0) sleepers.delete(words.buffer);
  else sleepers.set(words.buffer, left);
  for (const { wake } of woken) wake();
  return woken.length;
}

/** Nanoseconds as a number: exact for the first hundred days. */
const hrtime = Object.assign(
  (since?: [number, number]): [number, number] => {
    const nanos = Math.round(kernel.monotonic * 1e6) - (since === undefined ? 0 : since[0] * 1e9 + since[1]);
    const seconds = Math.floor(nanos / 1e9);
    return [seconds, nanos - seconds * 1e9];
  },
  { bigint: () => BigInt(Math.round(kernel.monotonic * 1e6)) },
);

const MIB = 1024 * 1024;
const MEMORY = { rss: 100 * MIB, heapTotal: 50 * MIB, heapUsed: 40 * MIB, external: 4 * MIB, arrayBuffers: MIB };
const memoryUsage = Object.assign(() => ({ ...MEMORY }), { rss: () => MEMORY.rss });

function replace(target: object, values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
  }
}

/** A UUID of version 4. */
export function randomUuid(): string {
  const hex = kernel.random.bytes(16).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

replace(globalThis, {
  Date: SimulatedDate,
  setTimeout: timeout(false),
  setInterval: timeout(true),
  setImmediate: immediate,
  clearTimeout: clear,
  clearInterval: clear,
  clearImmediate: (made: unknown) => {
    if (made instanceof SimulatedImmediate) made.isCancelled = true;
  },
});
// comlink releases what the garbage collector finds: the moment would be the machine's.
Reflect.deleteProperty(globalThis, "FinalizationRegistry");
replace(Atomics, { waitAsync, notify });
replace(Math, { random: () => kernel.random.next() });
replace(performance, {
  now: () => kernel.monotonic,
  timeOrigin: kernel.wall,
  eventLoopUtilization: () => ({ idle: 0, active: 0, utilization: 0 }),
});
replace(process, {
  hrtime,
  memoryUsage,
  cpuUsage: () => ({ user: 0, system: 0 }),
  pid: 4242,
  uptime: () => kernel.monotonic / 1000,
});
replace(crypto, { randomUUID: randomUuid });
replace(AbortSignal, {
  timeout: (ms: number) => {
    const controller = new AbortController();
    kernel.after(kernel.current, ms, () => controller.abort(new DOMException("timed out", "TimeoutError")));
    return controller.signal;
  },
});
