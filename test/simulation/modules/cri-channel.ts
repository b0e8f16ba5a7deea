// The agent's connection to the runtime (src/shared/kubernetes/cri/channel.ts) in the simulation.

import { machine } from "../world/machine.js";
import { SimulatedClient } from "./grpc-client.js";

export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

export class CriChannel {
  closed = false;
  private readonly client = new SimulatedClient(() => machine.runtime);

  get disconnected(): boolean {
    return !machine.runtime.isUp;
  }
  acquire(): SimulatedClient {
    return this.client;
  }
  close(): void {
    this.closed = true;
  }
}
