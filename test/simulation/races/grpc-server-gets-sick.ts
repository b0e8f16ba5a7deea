// A gRPC server says that it is not serving, first after a while and then after each restart; another one serves on.

import { ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podNameOf } from "../world/pod-facts.js";
import { portOf } from "../world/pod-servers.js";
import { podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const probe = (service: string): object => ({ grpc: { port: portOf(0), service }, periodSeconds: 5 });
const server = { name: "c0", livenessProbe: probe("live"), readinessProbe: probe("ready") };

export const grpcServerGetsSick: Race = {
  name: "grpc-server-gets-sick",
  promise: "A gRPC server that is not serving is restarted, and one that serves runs on and is ready",
  issue: "docs/simulation.md",
  events: [
    [
      20 * SECOND,
      {
        do: "create",
        shape: podOf({ name: "sick", script: { healthyMs: 60_000 }, container: server, isSteady: false }),
      },
    ],
    [21 * SECOND, { do: "create", shape: podOf({ name: "serves", container: server }) }],
  ],
  watch: (world, broken) => () => {
    const restarts = new Map<string, number>();
    for (const { config, status } of world.runtime.state.containers.values()) {
      if (status.state === ContainerState.CONTAINER_RUNNING)
        restarts.set(podNameOf(config.labels), config.metadata?.attempt ?? 0);
    }
    if (restarts.get("serves") !== 0) broken("the server that serves was restarted", "serves");
    if ((restarts.get("sick") ?? 0) < 2) broken("the sick server was not restarted twice", "sick");
  },
};
