// Host ports of pods, and who else has them. Pure.

import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { fullName } from "../pods/find.js";

export interface HostPort {
  port: number;
  protocol: string;
  /** "": every address. */
  address: string;
}

/** Ports of its containers and sidecars; with hostNetwork every port is the host's. */
export function hostPortsOf({ spec }: Pod): HostPort[] {
  return [...spec.containers, ...(spec.initContainers ?? [])].flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0, containerPort, protocol = "TCP", hostIP = "" }) => {
      const port = hostPort === 0 && spec.hostNetwork === true ? containerPort : hostPort;
      return port === 0 ? [] : [{ port, protocol, address: isEvery(hostIP) ? "" : hostIP }];
    }),
  );
}

function isEvery(address: string): boolean {
  return address === "" || address === "0.0.0.0" || address === "::";
}

export interface PortConflict {
  port: HostPort;
  holder: string;
}

/** Ports of the pod that another pod has which still runs. */
export function portConflicts(pod: Pod, pods: readonly Pod[]): PortConflict[] {
  const others = pods.filter(
    ({ metadata, status }) =>
      metadata.uid !== pod.metadata.uid && status?.phase !== "Failed" && status?.phase !== "Succeeded",
  );
  return hostPortsOf(pod).flatMap((port) => {
    const holder = others.find((other) => hostPortsOf(other).some((one) => collide(one, port)));
    return holder === undefined ? [] : [{ port, holder: fullName(holder) }];
  });
}

function collide(a: HostPort, b: HostPort): boolean {
  const sameAddress = a.address === "" || b.address === "" || a.address === b.address;
  return a.port === b.port && a.protocol === b.protocol && sameAddress;
}
