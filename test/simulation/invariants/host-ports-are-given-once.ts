// A port of the node belongs to one pod: no two sandboxes of different pods have it at the same time.

import { PodSandboxState, Protocol } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podNameOf } from "../world/pod-facts.js";
import type { World } from "../world/world.js";
import type { Invariant } from "./invariant.js";

interface Port {
  pod: string;
  uid: string;
  port: string;
  address: string;
}

export const hostPortsAreGivenOnce: Invariant = {
  name: "host ports are given once",
  promisedBy: "docs/from-upstream.md",
  watch(world, broken) {
    if (!world.node.hasHostPorts) return undefined;
    const check = (): void => {
      const all = portsOf(world);
      for (const one of all) {
        const other = all.find((port) => port.uid !== one.uid && isShared(one, port));
        if (other !== undefined) broken(`port ${one.port} is that of ${other.pod}, too`, one.pod);
      }
    };
    world.runtime.onEnd.add((verb) => {
      if (verb === "RunPodSandbox") check();
    });
    return check;
  },
};

function isShared(one: Port, other: Port): boolean {
  if (one.port !== other.port) return false;
  return one.address === "" || other.address === "" || one.address === other.address;
}

/** Those of sandboxes that run. */
function portsOf({ runtime }: World): Port[] {
  return [...runtime.state.sandboxes.values()].flatMap(({ config, status }) => {
    if (status.state !== PodSandboxState.SANDBOX_READY) return [];
    const pod = podNameOf(config.labels);
    const uid = config.metadata?.uid ?? "";
    return config.portMappings
      .filter(({ hostPort }) => hostPort > 0)
      .map(({ hostPort, protocol, hostIp }) => ({
        pod,
        uid,
        port: `${hostPort}/${Protocol[protocol]}`,
        address: hostIp,
      }));
  });
}
