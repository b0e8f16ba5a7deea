// The threads that serve HTTP: each has its own copy of the pods and of the configuration (docs/adr/0081).

import type { NodeManifests } from "../../shared/contracts/manifest-facts.js";
import type { ConfigzBodies } from "../../shared/contracts/server.js";
import type { PodDelta } from "../model/pod-delta.js";
import type { ServerThread } from "./server-thread.js";
import type { SharedTexts } from "./shared-texts.js";

export class ServerThreads {
  private readonly threads: readonly Pick<
    ServerThread,
    "publish" | "setConfigz" | "setDevicePluginProblem" | "setManifests"
  >[];

  /** Without `secure-server` the node does not open port 10250. `texts`: those that the threads use. */
  constructor(
    of: { server: ServerThread; "secure-server": ServerThread | undefined },
    private readonly texts: SharedTexts,
  ) {
    const secure = of["secure-server"];
    this.threads = secure === undefined ? [of.server] : [of.server, secure];
  }

  /** A text that several threads get is made once. */
  publish(delta: PodDelta): void {
    this.texts.sharedIn(() => {
      for (const thread of this.threads) thread.publish(delta);
    });
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
