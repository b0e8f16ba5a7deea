// The heads that this server has read itself, on the request that Node hands over for each. A property is cheaper than
// a WeakMap: requests come by thousands a second.

import type { IncomingMessage } from "node:http";
import type { RequestHead } from "../../../../shared/io/http/server/request-head.js";
import type { Refused } from "../../../../shared/io/http/server/request-reader.js";

const HEAD = Symbol("nodelet.server.head");

interface Marked {
  [HEAD]?: RequestHead | Refused;
}

/** undefined: a request of HTTP/2. */
export function headOf(request: IncomingMessage & Marked): RequestHead | Refused | undefined {
  return request[HEAD];
}

export function setHead(request: IncomingMessage & Marked, head: RequestHead | Refused): void {
  request[HEAD] = head;
}
