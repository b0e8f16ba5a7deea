// What the agent's connections to plugins (src/shared/kubernetes/plugins/connection.ts) use of gRPC: calls reach the
// plugins of the simulated machine.

import { connectivityState } from "@grpc/grpc-js";
import { kernel } from "../kernel/kernel.js";
import { plugins } from "../world/plugin-sockets.js";
import { SimulatedClient } from "./grpc-client.js";

export { connectivityState, Metadata } from "@grpc/grpc-js";

export const credentials = { createInsecure: (): undefined => undefined };

export class Client extends SimulatedClient {
  private readonly path: string;

  constructor(address: string) {
    const path = address.replace(/^unix:\/\//, "");
    super(() => plugins.serverAt(path));
    this.path = path;
  }
  getChannel(): object {
    const { path } = this;
    const { READY, TRANSIENT_FAILURE } = connectivityState;
    return {
      getConnectivityState: () => (plugins.isConnected(path) ? READY : TRANSIENT_FAILURE),
      watchConnectivityState: (_state: number, _deadline: number, done: () => void) => {
        const owner = kernel.current;
        plugins.onLinkChange(path, () => kernel.post(owner, done));
      },
    };
  }
  close(): void {
    // Calls end by their signals.
  }
}
