// The port of the status page on 127.0.0.1, without authentication, for a node on the operator's own machine.
// Invariant: a web site cannot read it through the operator's browser: a request must name this machine as its host, which a name that
// resolves to 127.0.0.1 (DNS rebinding) does not, and no response permits another origin to read it.
import type { RequestListener } from "node:http";
import type { Clock } from "../../../shared/clock/clock.js";
import type { Logger } from "../../../shared/log/logger.js";
import type { Route } from "../answer.js";
import { Listener, plainServer } from "../listener.js";
import { replyError } from "../reply.js";
import { router } from "../router.js";

const LOOPBACK = "127.0.0.1";
const OWN_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;

export function loopbackListener(routes: readonly Route[], port: number, clock: Clock, log: Logger): Listener {
  return new Listener({
    name: "status page",
    address: LOOPBACK,
    port,
    changedBy: "--status-page-port (0 turns it off)",
    create: () => plainServer(loopbackHandler(routes, log), clock, log),
    clock,
    log,
  });
}

/** @internal */
export function loopbackHandler(routes: readonly Route[], log: Logger): RequestListener {
  const toPage: Route = {
    path: "/",
    methods: ["GET"],
    answer: (_request, response) => {
      response.writeHead(302, { Location: "/ui/", "Content-Length": "0" });
      response.end();
    },
  };
  const lookup = router([toPage, ...routes], log, "off");
  return (request, response) => {
    request.resume();
    if (!OWN_HOST.test(request.headers.host ?? "")) {
      replyError(response, 421, "the status page responds only to localhost, 127.0.0.1 and [::1]");
      return;
    }
    lookup(request, response);
  };
}
