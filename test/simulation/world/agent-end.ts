// The agent's end of a simulated connection: what a socket of Node does with it. It ends with its thread.

import type { Duplex } from "node:stream";
import { kernel } from "../kernel/kernel.js";
import type { Owner } from "../kernel/owner.js";
import { closeEnd, type ConnectionEnd } from "./connection.js";

/** Ends that are open. */
const open = new Set<AgentEnd>();

export function agentEndsOpen(): number {
  return open.size;
}

export class AgentEnd {
  bytesRead = 0;
  bytesWritten = 0;
  private isReading = false;
  private readonly forget: () => void;

  /** @param owner runs the handlers of the stream */
  constructor(
    private readonly stream: Duplex,
    private readonly end: ConnectionEnd,
    private readonly owner: Owner,
  ) {
    open.add(this);
    this.forget = owner.onDeath(() => this.close());
    if (!owner.isAlive) this.close();
  }

  read(): void {
    if (this.isReading) return;
    this.isReading = true;
    this.end.incoming.read((received) =>
      kernel.post(this.owner, () => {
        const { stream } = this;
        this.isReading = false;
        if (stream.destroyed) return;
        if (received === "end") stream.push(null);
        else if (received === "reset") {
          stream.destroy(Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", syscall: "read" }));
        } else {
          this.bytesRead += received.length;
          stream.push(received);
        }
      }),
    );
  }

  write(chunk: Buffer, done: (error?: Error) => void): void {
    this.bytesWritten += chunk.length;
    this.end.outgoing.write(Buffer.from(chunk), (error) => kernel.post(this.owner, () => done(error)));
  }

  /** FIN */
  finish(): void {
    this.end.outgoing.end("end");
  }

  close(): void {
    if (!open.delete(this)) return;
    this.forget();
    closeEnd(this.end);
  }
}
