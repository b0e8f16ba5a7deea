// Which bodies of requests are read. Go's server asks a client that expects "100 Continue" for its body when a handler
// begins to read it, and a broken body matters to a handler that reads it and to no other.

import type { IncomingMessage } from "node:http";

const ON_WANTED = Symbol("nodelet.server.body");

interface Marked {
  [ON_WANTED]?: () => void;
}

/** A handler calls this before it reads the body. */
export function wantBody(request: IncomingMessage & Marked): void {
  request[ON_WANTED]?.();
}

/** `onWanted` is called when a handler begins to read the body. */
export function whenBodyIsWanted(request: IncomingMessage & Marked, onWanted: () => void): void {
  request[ON_WANTED] = onWanted;
}
