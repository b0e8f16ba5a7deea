// Requests of HTTP/1 on one server of Node: their heads are read here (Input), one after the other (Turns), and handed
// to the handler.

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "../../../../shared/base/clock/clock.js";
import { MAX_HEAD_BYTES } from "../../../../shared/io/http/server/request-reader.js";
import { ownedByFirst } from "../../clients/owned.js";
import { Turns } from "../../clients/turns.js";
import type { Lookup } from "../entry.js";
import { answerUnreadable } from "../unreadable.js";
import { answerUpgrade } from "../upgrade.js";
import type { HeadMemory } from "./head-memory.js";
import { Input } from "./input.js";
import { VersionedResponse } from "./response.js";

/** Options of every server of Node that gets its connections from here: Input has the limits of heads. */
export const HTTP1_OPTIONS = {
  // What Node's parser gets may be longer than what the client sent, by its line ends.
  maxHeaderSize: 2 * MAX_HEAD_BYTES,
  requireHostHeader: false,
  ServerResponse: VersionedResponse as typeof ServerResponse,
} as const;

export interface Http1Options {
  handler: Lookup;
  /** From the first byte of a head until it is whole, milliseconds. */
  headMs: number;
  lingerMs: number;
  /** Requests may upgrade the connection. If not, such a request is an ordinary one. */
  upgrades: boolean;
  clock: Clock;
}

export class Http1Connections {
  private readonly turns: Turns;
  private readonly inputs = new WeakMap<object, Input>();

  constructor(
    server: Server,
    private readonly options: Http1Options,
  ) {
    const { handler, upgrades, lingerMs, clock } = options;
    this.turns = new Turns(clock);
    const linger = { lingerMs, clock };
    // Node drops further ones, without a word.
    server.maxHeadersCount = 0;
    server.on(
      "request",
      ownedByFirst(
        (request: IncomingMessage) => request.socket,
        (request: IncomingMessage, response: ServerResponse) => {
          if (this.isRead(request, response)) this.turns.request(request, response, () => handler(request, response));
        },
      ),
    );
    if (upgrades) {
      server.on(
        "upgrade",
        ownedByFirst(
          (request: IncomingMessage) => request.socket,
          (request: IncomingMessage, socket: Duplex, head: Buffer) => {
            if (!(socket instanceof Socket)) socket.destroy();
            else if (this.isRead(request))
              this.turns.upgrade(socket, () => answerUpgrade(handler, linger, request, socket, head));
          },
        ),
      );
    }
    server.on("clientError", answerUnreadable(linger));
  }

  /** Node's server has the connection, and has read nothing of it. */
  open(socket: Socket, memory: HeadMemory): void {
    const { headMs, lingerMs, upgrades, clock } = this.options;
    const options = { headMs, lingerMs, upgrades, clock, turns: this.turns };
    this.inputs.set(socket, new Input(socket, memory.open(socket), options));
  }

  /** A request whose head was not read here would be one of Node's own reading: its connection ends. */
  private isRead(request: IncomingMessage, response?: ServerResponse): boolean {
    const head = this.inputs.get(request.socket)?.take(request, response);
    if (head === undefined) request.socket.destroy();
    return head !== undefined;
  }
}
