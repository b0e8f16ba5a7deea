// The authenticated port of the agent (src/workers/server/ports/secure-port.ts) in the simulation: clients reach its
// gate without TLS and HTTP. It listens as long as its thread lives.

import type { ListenAddress } from "../../../src/shared/contracts/server.js";
import type { User } from "../../../src/workers/server/auth/user.js";
import type { PortSide, SecurePortOptions } from "../../../src/workers/server/ports/secure-port.js";
import { kernel } from "../kernel/kernel.js";
import { machine } from "../world/machine.js";
import type { NodePort } from "../world/node-port.js";
import type { OwnApi } from "../world/own-api.js";

/** The client's end of a connection that the gate sees. */
export interface PeerSocket {
  /** That its certificate names; undefined: it has none. */
  user?: User;
}

const SIDE: PortSide = {
  peers: {
    claimOf: ({ user }: PeerSocket) =>
      user === undefined ? { kind: "none" } : { kind: "user", user, expiresAt: Infinity },
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
    this.world?.listen(kernel.current, this.options.gate(SIDE));
    this.isOpen = true;
    return Promise.resolve();
  }

  listening(): Promise<ListenAddress | undefined> {
    const { address, init } = this.options;
    return Promise.resolve(this.isOpen ? { address, port: init.port } : undefined);
  }

  close(): Promise<void> {
    if (this.isOpen) this.world?.closed();
    this.isOpen = false;
    return Promise.resolve();
  }

  private get world(): OwnApi | NodePort | undefined {
    return this.options.name === "authenticated" ? machine.nodePort : machine.ownApi;
  }
}
