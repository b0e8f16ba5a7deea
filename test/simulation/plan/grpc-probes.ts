// gRPC probes: on nodes with them, most probes become probes of a gRPC server, whose services are "live" and "ready".

import type { Random } from "../kernel/random.js";
import { portOf } from "../world/pod-servers.js";
import type { PodShape } from "./pod-shapes.js";

/** Part of the probes. */
const SHARE = 0.7;
const SERVICES = { livenessProbe: "live", readinessProbe: "ready" };

type Fields = Record<string, unknown>;

export class GrpcProbes {
  constructor(private readonly random: Random) {}

  /** The pod as it is on this node. Only first containers have probes. */
  shape(plain: PodShape): PodShape {
    const [first, ...others] = plain.spec["containers"] as Fields[];
    const changed = { ...first };
    for (const [member, service] of Object.entries(SERVICES)) {
      const probe = changed[member] as Fields | undefined;
      if (probe === undefined || !this.random.chance(SHARE)) continue;
      const { exec: _exec, httpGet: _http, tcpSocket: _tcp, ...rest } = probe;
      changed[member] = { ...rest, grpc: { port: portOf(0), service } };
    }
    return { ...plain, spec: { ...plain.spec, containers: [changed, ...others] } };
  }
}
