// Opens the status page: its routes, for the authenticated port, and its own port on 127.0.0.1, without authentication.

import type { ListenAddress, PageInit } from "../../../shared/contracts/server.js";
import type { Route } from "../http/answer.js";
import { loopbackListener } from "./loopback-page.js";
import { StatusPage, type StatusPageDeps } from "./status-page.js";

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
