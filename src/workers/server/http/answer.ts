// The type of a route. Handlers are written for HTTP/1.1's request and response; Node's HTTP/2 brings objects of the
// same shape.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Target } from "../../../shared/io/http/target.js";
import type { RoutePath } from "./paths.js";

export type Params = Readonly<Record<string, string | undefined>>;

/** The connection of a request that upgrades to another protocol. The new owner responds on it by itself. */
export interface Upgrade {
  readonly socket: Duplex;
  /** Bytes that arrived after the request's header. */
  readonly head: Buffer;
  /** The response is used no more: the socket belongs to the new owner. */
  take(): void;
}

/** A request with its route. The gate authorises this value, and the route's handler and the log use the same one. */
export interface Call {
  readonly method: string;
  readonly target: Target;
  /** undefined: no route has this path, or the client is sent to another. */
  readonly route: Route | undefined;
  /** Where the client is sent, as its path is not written as this server has it, a byte string; undefined: nowhere. */
  readonly redirect: string | undefined;
  /** Segments of the path that the route leaves open, by their names. */
  readonly params: Params;
}

export type Answer = (
  request: IncomingMessage,
  response: ServerResponse,
  call: Pick<Call, "target" | "params">,
  upgrade?: Upgrade,
) => void | Promise<void>;

type Method = "GET" | "POST" | "PUT" | "DELETE";

export interface Route {
  path: RoutePath;
  /**
   * Path of the web service in which upstream has the route. A final slash of the request's path means nothing there.
   * If the service's own path has one, clients that leave it out are redirected. Absent: the path is exact.
   */
  service?: RoutePath;
  /** undefined: every method. */
  methods?: readonly Method[];
  answer: Answer;
}
