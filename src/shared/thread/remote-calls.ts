// Calls into another thread, each with a deadline. With comlink alone they would stay pending for ever when that thread
// hangs or exits.
// Invariant: every call settles, at the latest at its deadline, and at once when the connection ends.

import type { MessagePort } from "node:worker_threads";
import { wrap } from "comlink";
import type { Clock } from "../base/clock/clock.js";
import { portEndpoint } from "./endpoint.js";
import { ThreadCallTimeoutError, ThreadExitedError } from "./errors.js";

/** T's methods as called from another thread: the same arguments, always a promise. */
export type Remote<T> = {
  readonly [K in keyof T as T[K] extends (...args: never[]) => unknown ? K : never]: T[K] extends (
    ...args: infer A
  ) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

/** Deadline of a call that names none, ms. */
const DEFAULT_CALL_DEADLINE_MS = 5000;

type Methods = Record<string, (...args: unknown[]) => Promise<unknown>>;

export class RemoteCalls<T extends object> {
  /** Kept as long as the connection: comlink closes the port when its proxy is garbage. */
  private remote: Methods | undefined;
  private downReason = "it has not started yet";
  private readonly pending = new Map<symbol, { method: string; reject: (error: Error) => void }>();
  /** Every method with the default deadline. */
  readonly call: Remote<T>;

  constructor(
    private readonly thread: string,
    private readonly clock: Pick<Clock, "after">,
    deadlineMs: number = DEFAULT_CALL_DEADLINE_MS,
  ) {
    this.call = this.within(deadlineMs);
  }

  /** Calls in flight. */
  get inFlight(): number {
    return this.pending.size;
  }

  /** From now on calls go through `port`, whose other side has exposed a T; `onLost` as for portEndpoint. */
  connect(port: MessagePort, onLost: (error: unknown) => void): void {
    this.remote = wrap(portEndpoint(port, onLost)) as unknown as Methods;
  }

  /** Rejects every call in flight, and every later one until connect, with ThreadExitedError. */
  disconnect(reason: string): void {
    this.remote = undefined;
    this.downReason = reason;
    const calls = [...this.pending.values()];
    this.pending.clear();
    for (const { method, reject } of calls) reject(new ThreadExitedError(this.thread, method, reason));
  }

  /** Returns the methods with another deadline, ms. */
  within(deadlineMs: number): Remote<T> {
    return new Proxy(Object.create(null) as Remote<T>, {
      get: (_target, method) => {
        // Not a thenable: `await thread.call` must not call a remote "then".
        if (typeof method === "symbol" || method === "then") return undefined;
        return (...args: unknown[]) => this.invoke(method, args, deadlineMs);
      },
    });
  }

  private invoke(method: string, args: unknown[], deadlineMs: number): Promise<unknown> {
    const { remote } = this;
    if (remote === undefined) return Promise.reject(new ThreadExitedError(this.thread, method, this.downReason));
    return new Promise((resolve, reject) => {
      const id = Symbol(method);
      const timer = this.clock.after(deadlineMs, () => {
        this.pending.delete(id);
        reject(new ThreadCallTimeoutError(this.thread, method, deadlineMs));
      });
      const settle = <V>(how: (value: V) => void) => {
        return (value: V): void => {
          timer.cancel();
          this.pending.delete(id);
          how(value);
        };
      };
      const fail = settle(reject);
      this.pending.set(id, { method, reject: fail });
      remote[method]?.(...args).then(settle(resolve), fail);
    });
  }
}
