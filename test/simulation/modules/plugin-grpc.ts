// What the agent's connections to plugins (src/shared/kubernetes/plugins/connection.ts) use of gRPC: calls reach the
// plugins of the simulated machine.

import { plugins } from "../world/plugin-sockets.js";
import { SimulatedClient } from "./grpc-client.js";

export { connectivityState, Metadata } from "@grpc/grpc-js";

export const credentials = { createInsecure: (): undefined => undefined };

const READY = 2;

export class Client extends SimulatedClient {
  constructor(address: string) {
    super(() => plugins.serverAt(address.replace(/^unix:\/\//, "")));
  }
  getChannel(): object {
    return { getConnectivityState: () => READY, watchConnectivityState: () => undefined };
  }
  close(): void {
    // Calls end by their signals.
  }
}
