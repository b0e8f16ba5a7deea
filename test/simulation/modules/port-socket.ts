// The connection of a client of port 10250 as the agent's handlers have it.

import { Duplex } from "node:stream";
import type { Owner } from "../kernel/owner.js";
import { AgentEnd } from "../world/agent-end.js";
import type { ConnectionEnd } from "../world/connection.js";

export class PortSocket extends Duplex {
  private readonly carrier: AgentEnd;

  constructor(
    end: ConnectionEnd,
    owner: Owner,
    readonly remoteAddress: string,
  ) {
    super();
    this.carrier = new AgentEnd(this, end, owner);
  }

  override _read(): void {
    this.carrier.read();
  }
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.carrier.write(chunk, done);
  }
  override _final(done: () => void): void {
    this.carrier.finish();
    done();
  }
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.carrier.close();
    done(error);
  }
  setNoDelay(): this {
    return this;
  }
  setTimeout(): this {
    return this;
  }
}
