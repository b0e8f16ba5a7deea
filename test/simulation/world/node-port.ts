// Port 10250 of the kubelet, without TLS and HTTP: requests go to the agent's own gate.

import { Readable } from "node:stream";
import { parseTarget } from "../../../src/shared/io/http/target.js";
import type { Gate } from "../../../src/workers/server/ports/secure-port.js";
import { kernel } from "../kernel/kernel.js";
import type { Owner } from "../kernel/owner.js";
import { Channel, type WireResponse } from "../modules/api-channel.js";
import { machine, type Listening } from "./machine.js";

/** A client's address: limits count by it. */
const CLIENT = "192.0.2.7";

export class NodePort {
  private port: Listening | undefined;

  listening(): Listening | undefined {
    return this.port?.owner.isAlive === true ? this.port : undefined;
  }

  /** The agent's port is open. */
  listen(owner: Owner, { handle }: Gate): void {
    this.port = {
      owner,
      handle: ({ method, path, headers }, response) => {
        const target = parseTarget(path, "https");
        if (target === undefined) throw new Error(`${path} is no target of a request`);
        const socket = { remoteAddress: CLIENT, once: () => undefined, destroyed: false };
        const parts = { method, url: path, headers, httpVersionMajor: 1, socket };
        const request = Object.assign(Readable.from([]), parts);
        handle(request as never, response as never, { method, target, host: undefined });
      },
    };
  }

  closed(): void {
    this.port = undefined;
  }
}

class NodeChannel extends Channel {
  protected override listening(): Listening | undefined {
    return machine.nodePort?.listening();
  }
}

export interface NodeRequest {
  path: string;
  /** A bearer token; absent: none. */
  token?: string;
  /** The client takes so long for each piece that the server writes. */
  paceMs?: number;
  signal?: AbortSignal;
}

/** One request on a connection of its own. Runs as the world. */
export function askNode({ path, token, paceMs, signal }: NodeRequest): Promise<WireResponse> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const request = { method: "GET", path, headers, body: undefined };
  const paced = paceMs === undefined ? request : { ...request, paceMs };
  return kernel.as(kernel.world, () => new NodeChannel().send(paced, signal ?? new AbortController().signal));
}
