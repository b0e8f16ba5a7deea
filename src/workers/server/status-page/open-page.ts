// Opens the status page: its routes, for the authenticated port, and its own port on 127.0.0.1, without authentication.
import type { ListenAddress, PageInit } from "../../../shared/contracts/server.js";
import type { Route } from "../answer.js";
import { StatusPage, type StatusPageDeps } from "../status-page.js";
import type { Clock } from "../../../shared/clock/clock.js";
import type { Logger } from "../../../shared/log/logger.js";
import { Listener, plainServer } from "../listener.js";
import { entry, type Lookup } from "../entry.js";
import { onlyOwnHost } from "../own-host.js";
import { Router } from "../router.js";

export interface OpenPage {
  readonly routes: readonly Route[];
  /** Address of the port on 127.0.0.1; undefined: there is none. */
  listening(): Promise<ListenAddress | undefined>;
  close(): Promise<void>;
}

export function openPage({ loopbackPort }: Pick<PageInit, "loopbackPort">, deps: StatusPageDeps): OpenPage {
  const page = new StatusPage(deps);
  const listener = loopbackPort === 0 ? undefined : loopbackListener(page.routes, loopbackPort, deps.clock, deps.log);
  listener?.start();
  return {
    routes: page.routes,
    listening: () => listener?.listening() ?? Promise.resolve(undefined),
    close: async () => {
      await Promise.all([page.close(), listener?.close()]);
    },
  };
}

// The port of the status page on 127.0.0.1, without authentication, for a node on the operator's own machine.

const LOOPBACK = "127.0.0.1";

function loopbackListener(routes: readonly Route[], port: number, clock: Clock, log: Logger): Listener {
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
