// The threads that serve HTTP: each has its own copy of the pods and of the configuration (docs/adr/0081).

import type { NodeManifests } from "../../shared/contracts/manifest-facts.js";
import type { ConfigzBodies } from "../../shared/contracts/server.js";
import type { PodDelta } from "../model/pod-delta.js";
import type { ServerThread } from "./server-thread.js";

export class ServerThreads {
  private readonly threads: readonly Pick<
    ServerThread,
    "publish" | "setConfigz" | "setDevicePluginProblem" | "setManifests"
  >[];

  /** Without `secure-server` the node does not open port 10250. */
  constructor(of: { server: ServerThread; "secure-server": ServerThread | undefined }) {
    const secure = of["secure-server"];
    this.threads = secure === undefined ? [of.server] : [of.server, secure];
  }

  publish(delta: PodDelta): void {
    for (const thread of this.threads) thread.publish(delta);
  }

  setConfigz(bodies: ConfigzBodies): void {
    for (const thread of this.threads) thread.setConfigz(bodies);
  }

  setDevicePluginProblem(problem: string): void {
    for (const thread of this.threads) thread.setDevicePluginProblem(problem);
  }

  setManifests(list: NodeManifests): void {
    for (const thread of this.threads) thread.setManifests(list);
  }
}
