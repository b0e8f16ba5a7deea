// Host ports: one pod each per protocol and address; 0.0.0.0 takes them all.
import { isSidecar, type Pod } from "../../../shared/api/pod.js";
import type { AdmissionHandler } from "../handler.js";

interface HostPort {
  port: number;
  protocol: string;
  ip: string;
}

const EVERY_ADDRESS = "0.0.0.0";

export const nodePortsHandler: AdmissionHandler = ({ pod, others }) => {
  const taken = others.flatMap(hostPorts);
  const conflict = hostPorts(pod).some((wanted) => taken.some((other) => clashes(wanted, other)));
  return conflict
    ? {
        reason: "NodePorts",
        message: "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
      }
    : undefined;
};

/** Ports of containers that stay: ordinary init containers are over before others need theirs. */
function hostPorts({ spec }: Pod): HostPort[] {
  const lasting = [...spec.containers, ...(spec.initContainers ?? []).filter(isSidecar)];
  return lasting
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort = 0 }) => hostPort > 0)
    .map(({ hostPort = 0, protocol = "TCP", hostIP = "" }) => ({
      port: hostPort,
      protocol,
      ip: hostIP === "" || hostIP === "::" ? EVERY_ADDRESS : hostIP,
    }));
}

function clashes(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  return a.ip === b.ip || a.ip === EVERY_ADDRESS || b.ip === EVERY_ADDRESS;
}
