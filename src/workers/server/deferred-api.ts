// The server thread's own connection to the API server, created for the first review.

import type { Clock } from "../../shared/base/clock/clock.js";
import { Deferred } from "../../shared/base/turns/deferred.js";
import type { ConnectedClient } from "../../shared/kubernetes/api/client/client.js";
import type { NodeConfigFiles } from "../../shared/kubernetes/api/client/kubeconfig/node-config.js";
import type { Logger } from "../../shared/telemetry/log/thread-log.js";

/** ReviewTurns limits the reviews of each kind before they come here. */
const NO_LIMIT = -1;

class NoApiServerError extends Error {
  override readonly name = "NoApiServerError";
  constructor() {
    super("this node has no kubeconfig, and so no API server for the request");
  }
}

/**
 * Rejects with NoApiServerError or KubeconfigError; a kubeconfig that could not be read is tried again by the next
 * caller.
 * @param files undefined on a stand-alone node
 */
export function deferredApi(files: NodeConfigFiles | undefined, clock: Clock, log: Logger): Deferred<ConnectedClient> {
  return new Deferred({
    name: "the connection to the API server",
    when: "first use",
    load: async () => {
      if (files === undefined) throw new NoApiServerError();
      const [{ createApiClient }, { loadNodeConfig }] = await Promise.all([
        import("../../shared/kubernetes/api/client/client.js"),
        import("../../shared/kubernetes/api/client/kubeconfig/node-config.js"),
      ]);
      return createApiClient({ config: await loadNodeConfig(files), qps: NO_LIMIT, clock, log });
    },
    end: (client) => client.close(),
  });
}
