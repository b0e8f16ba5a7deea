// The server thread's own connection to the API server, created for the first review.

import type { ConnectedClient } from "../../shared/api/client/client.js";
import type { NodeConfigFiles } from "../../shared/api/client/kubeconfig/node-config.js";
import type { Clock } from "../../shared/clock/clock.js";
import type { Logger } from "../../shared/log/thread-log.js";
import { OperatorError } from "../../shared/errors/operator-error.js";

/** ReviewTurns limits the reviews of each kind before they come here. */
const NO_LIMIT = -1;

export class LazyApi {
  private client: Promise<ConnectedClient> | undefined;

  /** @param files absent on a stand-alone node */
  constructor(
    private readonly files: NodeConfigFiles | undefined,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Rejects with OperatorError or KubeconfigError; a kubeconfig that could not be read is tried again by the next. */
  async get(): Promise<ConnectedClient> {
    if (this.files === undefined)
      throw new OperatorError("this node has no kubeconfig, and so no API server for the request");
    this.client ??= this.connect(this.files);
    try {
      return await this.client;
    } catch (error) {
      this.client = undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    (await this.client?.catch(() => undefined))?.close();
  }

  private async connect(files: NodeConfigFiles): Promise<ConnectedClient> {
    const [{ createApiClient }, { loadNodeConfig }] = await Promise.all([
      import("../../shared/api/client/client.js"),
      import("../../shared/api/client/kubeconfig/node-config.js"),
    ]);
    const config = await loadNodeConfig(files);
    return createApiClient({ config, qps: NO_LIMIT, clock: this.clock, log: this.log });
  }
}
