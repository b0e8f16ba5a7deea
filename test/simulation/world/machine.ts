// The parts of the simulated machine that replaced modules reach: made before the agent starts.

import type { User } from "../../../src/workers/server/auth/user.js";
import type { Owner } from "../kernel/owner.js";
import type { Response } from "../modules/api-channel.js";
import type { NodePort } from "./node-port.js";
import type { OwnApi } from "./own-api.js";
import type { SimulatedRuntime } from "./runtime.js";

export interface WireRequest {
  method: string;
  path: string;
  headers: Record<string, string | string[]>;
  body: Buffer | undefined;
  /** The client takes so long for each piece of the response, ms; absent: no time. */
  paceMs?: number;
}

/** An API server that accepts requests. */
export interface Listening {
  /** Runs the server. */
  owner: Owner;
  handle(request: WireRequest & { user: User }, response: Response): void;
}

interface Machine {
  /** CPUs that Node counts. */
  cpus: number;
  runtime: SimulatedRuntime;
  /** The API server that the kubelet connects to. */
  api: { listening(): Listening | undefined };
  /** Undefined: that is the server of a cluster. */
  ownApi: OwnApi | undefined;
  /** Undefined: the kubelet has no port 10250. */
  nodePort: NodePort | undefined;
}

/** Filled by the run (world/world.ts). */
export const machine = {} as Machine;
