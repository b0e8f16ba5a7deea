// Pods with ports of the node. There are fewer ports than pods that want one: the kubelet must reject some.

import type { Random } from "../kernel/random.js";
import type { PodShape } from "./pod-shapes.js";

/** Part of the pods that want a port. */
const SHARE = 0.4;
const PORTS = [30_080, 30_081, 30_082, 30_083];
const FIRST_CONTAINER_PORT = 8000;

export class OwnPorts {
  constructor(private readonly random: Random) {}

  /** The pod as it is on this node. */
  shape(plain: PodShape): PodShape {
    const { random } = this;
    if (!random.chance(SHARE)) return plain;
    const hostPort = random.pick(PORTS);
    const protocol = random.pick(["TCP", "TCP", "UDP"]);
    const hostIP = random.pick(["", "", "192.0.2.1", "192.0.2.2"]);
    const [first, ...others] = plain.spec["containers"] as Record<string, unknown>[];
    const ports = [{ containerPort: FIRST_CONTAINER_PORT, hostPort, protocol, hostIP }];
    return { ...plain, spec: { ...plain.spec, containers: [{ ...first, ports }, ...others] } };
  }
}
