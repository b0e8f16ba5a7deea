// Host ports: one pod each per protocol and address; 0.0.0.0 takes them all.

import { perSpec } from "../../../../shared/kubernetes/api/per-spec.js";
import { isSidecar } from "../../../../shared/kubernetes/api/pod.js";
import type { AdmissionHandler } from "../handler.js";

interface HostPort {
  port: number;
  protocol: string;
  ip: string;
}

const EVERY_ADDRESS = "0.0.0.0";

export const nodePortsHandler: AdmissionHandler = ({ pod, others }) => {
  const wanted = hostPorts(pod.spec);
  if (wanted.length === 0) return undefined;
  const taken = addressesByPort(others.flatMap(({ spec }) => hostPorts(spec)));
  const conflict = wanted.some((port) => clashes(port, taken.get(keyOf(port))));
  return conflict
    ? {
        reason: "NodePorts",
        message: "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
      }
    : undefined;
};

/** Ports of containers that stay: ordinary init containers exit before other containers need theirs. */
const hostPorts = perSpec((spec): readonly HostPort[] => {
  const lasting = [...spec.containers, ...(spec.initContainers ?? []).filter(isSidecar)];
  return lasting
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort = 0 }) => hostPort > 0)
    .map(({ hostPort = 0, protocol = "TCP", hostIP = "" }) => ({
      port: hostPort,
      protocol,
      ip: hostIP === "" || hostIP === "::" ? EVERY_ADDRESS : hostIP,
    }));
});

const keyOf = ({ port, protocol }: HostPort): string => `${port}/${protocol}`;

/** Pods may have thousands of ports: none is compared with each other one. */
function addressesByPort(ports: readonly HostPort[]): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const port of ports) {
    const addresses = found.get(keyOf(port)) ?? new Set();
    found.set(keyOf(port), addresses.add(port.ip));
  }
  return found;
}

function clashes({ ip }: HostPort, taken: ReadonlySet<string> | undefined): boolean {
  if (taken === undefined) return false;
  return ip === EVERY_ADDRESS || taken.has(ip) || taken.has(EVERY_ADDRESS);
}
