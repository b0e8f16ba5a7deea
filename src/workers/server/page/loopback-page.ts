// The port of the status page on 127.0.0.1, without authentication, for a node on the operator's own machine.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { Logger } from "../../../shared/telemetry/log/thread-log.js";
import type { Route } from "../http/answer.js";
import { type Lookup, entry } from "../http/entry.js";
import { Router } from "../http/router.js";
import { Listener, plainServer } from "../ports/listener.js";
import { onlyOwnHost } from "../ports/own-host.js";

const LOOPBACK = "127.0.0.1";

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
export function loopbackHandler(routes: readonly Route[], log: Logger): Lookup {
  const toPage: Route = {
    path: "/",
    methods: ["GET"],
    answer: (_request, response) => {
      response.writeHead(302, { Location: "/ui/", "Content-Length": "0" });
      response.end();
    },
  };
  const router = new Router([toPage, ...routes], log, "off");
  return entry(
    "http",
    onlyOwnHost([], (request, response, read) => {
      request.resume();
      router.answer(request, response, router.callOf(read));
    }),
  );
}
