// The authenticated port of the agent (src/workers/server/ports/secure-port.ts) in the simulation: clients reach its
// gate without TLS and HTTP. It listens as long as its thread lives.

import type { ListenAddress } from "../../../src/shared/contracts/server.js";
import type { User } from "../../../src/workers/server/auth/user.js";
import type { PortSide, SecurePortOptions } from "../../../src/workers/server/ports/secure-port.js";
import { kernel } from "../kernel/kernel.js";
import { machine } from "../world/machine.js";

/** The client's end of a connection that the gate sees. */
export interface PeerSocket {
  user: User;
}

const SIDE: PortSide = {
  peers: {
    claimOf: ({ user }: PeerSocket) => ({ kind: "user", user, expiresAt: Infinity }),
  } as unknown as PortSide["peers"],
  refusals: { request: () => undefined, connection: () => undefined } as unknown as PortSide["refusals"],
  authorised: () => true,
  refused: () => undefined,
  endAfter: () => undefined,
};

export class SecurePort {
  private isOpen = false;

  constructor(private readonly options: SecurePortOptions) {}

  start(): Promise<void> {
    const owner = kernel.current;
    machine.ownApi?.listen(owner, this.options.gate(SIDE));
    this.isOpen = true;
    return Promise.resolve();
  }

  listening(): Promise<ListenAddress | undefined> {
    const { address, init } = this.options;
    return Promise.resolve(this.isOpen ? { address, port: init.port } : undefined);
  }

  close(): Promise<void> {
    if (this.isOpen) machine.ownApi?.closed();
    this.isOpen = false;
    return Promise.resolve();
  }
}
