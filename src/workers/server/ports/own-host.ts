// The Host rule of ports without authentication: a request that arrives over loopback must name this machine as its
// host.
// Invariant: a web site cannot read such a port through a browser on this machine. Its own name, made to resolve to
// 127.0.0.1 (DNS rebinding), is refused, and no response permits another origin to read it. A request without any Host,
// which HTTP/1.0 permits, comes from no browser.

import { isLoopbackAddress, isLoopbackHost } from "../../../shared/io/http/host.js";
import type { Entered } from "../http/entry.js";
import { replyError } from "../http/reply.js";

/** @param names other names of this machine, which may resolve to loopback */
export function onlyOwnHost(names: readonly string[], next: Entered): Entered {
  const own = new Set(names.map((name) => name.toLowerCase()));
  return (request, response, read, upgrade) => {
    const { localAddress } = request.socket;
    const overLoopback = localAddress === undefined || isLoopbackAddress(localAddress);
    const { host } = read;
    if (!overLoopback || host === undefined || isLoopbackHost(host) || own.has(host.name)) {
      next(request, response, read, upgrade);
      return;
    }
    request.resume();
    replyError(response, 421, "this port responds over loopback only to localhost, 127.0.0.1 and [::1]");
  };
}
