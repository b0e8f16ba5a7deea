// node:worker_threads: channels between the owners of the simulation. Messages are copied and arrive in order.

import { EventEmitter } from "node:events";
import { copyOf } from "../../support/copy-of.js";
import { kernel } from "../kernel/kernel.js";
import type { Owner } from "../kernel/owner.js";

export const isMainThread = true;
export const parentPort = null;
export const workerData = undefined;
export const threadId = 0;

export class Worker extends EventEmitter {
  constructor() {
    super();
    throw new Error("a simulated worker is started by the world");
  }
}

export class MessagePort extends EventEmitter {
  peer: MessagePort | undefined;
  private owner: Owner | undefined;
  private isClosed = false;
  private readonly waiting: unknown[] = [];

  /** Ports of the list are handed over. */
  postMessage(message: unknown, transfer: readonly unknown[] = []): void {
    const { peer } = this;
    if (this.isClosed || peer === undefined) return;
    peer.take(transfer.some((one) => one instanceof MessagePort) ? copyWithPorts(message) : copyOf(message));
  }
  override on(event: string, listener: (...values: unknown[]) => void): this {
    super.on(event, listener);
    if (event === "message") {
      this.owner ??= kernel.current;
      for (const message of this.waiting.splice(0)) this.take(message);
    }
    return this;
  }
  start(): void {
    // A listener starts it.
  }
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.peer?.close();
    const { owner } = this;
    if (owner !== undefined) kernel.post(owner, () => this.emit("close"));
  }
  ref(): void {
    // Workers do not keep the simulation alive: its driver ends it.
  }
  unref(): void {
    // Workers do not keep the simulation alive: its driver ends it.
  }

  private take(message: unknown): void {
    if (this.isClosed) return;
    const { owner } = this;
    if (owner === undefined) this.waiting.push(message);
    else
      kernel.post(owner, () => {
        if (!this.isClosed) this.emit("message", message);
      });
  }
}

function copyWithPorts(message: unknown): unknown {
  if (typeof message !== "object" || message === null || message instanceof MessagePort) return message;
  if (Array.isArray(message)) return message.map(copyWithPorts);
  if (Object.getPrototypeOf(message) !== Object.prototype) return structuredClone(message);
  return Object.fromEntries(Object.entries(message).map(([name, value]) => [name, copyWithPorts(value)]));
}

export class MessageChannel {
  readonly port1 = new MessagePort();
  readonly port2 = new MessagePort();
  constructor() {
    this.port1.peer = this.port2;
    this.port2.peer = this.port1;
  }
}
