// Creates the network from the flags.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { DockershimNetwork } from "../../../shared/contracts/dockershim.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { CniNetwork } from "./cni-network.js";
import type { PodNetwork } from "./pod-network.js";

/** docker connects the sandbox when it starts it, and publishes its host ports. */
class DockerNetwork implements PodNetwork {
  readonly dockerNetwork = "default";
  problem(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
  setUp(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
  tearDown(): Promise<void> {
    return Promise.resolve();
  }
  setPodCidr(): void {
    // docker's own configuration has the range.
  }
}

export function makeNetwork(network: DockershimNetwork, deps: { clock: Clock; log: Logger }): PodNetwork {
  return network.plugin === "cni" ? new CniNetwork(network, deps) : new DockerNetwork();
}
