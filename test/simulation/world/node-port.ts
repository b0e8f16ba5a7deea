// Port 10250 of the kubelet, without TLS and HTTP: requests go to the agent's own gate.

import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { parseTarget } from "../../../src/shared/io/http/target.js";
import type { Upgrade } from "../../../src/workers/server/http/answer.js";
import { answerUpgrade } from "../../../src/workers/server/http/upgrade.js";
import type { Gate } from "../../../src/workers/server/ports/secure-port.js";
import { kernel } from "../kernel/kernel.js";
import type { Owner } from "../kernel/owner.js";
import { Channel, type WireResponse } from "../modules/api-channel.js";
import { PortSocket } from "../modules/port-socket.js";
import { newConnection, type ConnectionEnd } from "./connection.js";
import { machine, type Listening } from "./machine.js";

/** A client's address: limits count by it. */
const CLIENT = "192.0.2.7";
/** As that of the agent's HTTPS server. */
const LINGER_MS = 1000;
/** A client's way to the port, ms. */
const WAY_MS = 8;

/** A request that asks for another protocol. */
interface Upgrading {
  path: string;
  headers: Readonly<Record<string, string>>;
}

export class NodePort {
  private port: Listening | undefined;
  private handle: Gate["handle"] | undefined;

  listening(): Listening | undefined {
    return this.port?.owner.isAlive === true ? this.port : undefined;
  }

  /** The agent's port is open. */
  listen(owner: Owner, { handle }: Gate): void {
    this.handle = handle;
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

  /** @returns the client's end of a new connection with that request; undefined: the port is not open */
  upgrade({ path, headers }: Upgrading): ConnectionEnd | undefined {
    const owner = this.listening()?.owner;
    const { handle } = this;
    const target = parseTarget(path, "https");
    if (owner === undefined || handle === undefined || target === undefined) return undefined;
    const [client, server] = newConnection();
    const socket = new PortSocket(server, owner, CLIENT);
    kernel.post(owner, () => {
      const parts = {
        method: "GET",
        url: path,
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
        rawHeaders: Object.entries(headers).flat(),
        httpVersion: "1.1",
        httpVersionMajor: 1,
        httpVersionMinor: 1,
        socket,
      };
      const request = Object.assign(Readable.from([]), parts) as unknown as IncomingMessage;
      const entered = (_: IncomingMessage, response: ServerResponse, upgrade?: Upgrade): void => {
        // Its text is that of the machine's clock.
        response.sendDate = false;
        handle(request, response, { method: "GET", target, host: undefined }, upgrade);
      };
      const linger = { lingerMs: LINGER_MS, clock: systemClock };
      answerUpgrade(entered, linger, request, socket as never, Buffer.alloc(0));
    });
    return client;
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

/** A request on a connection of its own that asks for another protocol. Runs as the world. */
export function upgradeNode(
  path: string,
  headers: Readonly<Record<string, string>>,
  onConnected: (end: ConnectionEnd | undefined) => void,
): void {
  kernel.after(kernel.world, kernel.random.between(0.2, WAY_MS), () =>
    onConnected(machine.nodePort?.upgrade({ path, headers })),
  );
}
