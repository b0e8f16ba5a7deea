// Environment variables of services, in the form of Docker's former links. Pure.

import { isIPv6 } from "net";
import type { Service } from "../../../shared/kubernetes/api/objects.js";

/** Pods find the API server by it, even without enableServiceLinks. */
const MASTER = { namespace: "default", name: "kubernetes" };

/** Services of the namespace if `links`, and the API server's; those without an address have no variables. */
export function serviceEnv(services: readonly Service[], namespace: string, links: boolean): Map<string, string> {
  const env = new Map<string, string>();
  for (const service of visible(services, namespace, links)) {
    for (const [name, value] of variables(service)) env.set(name, value);
  }
  return env;
}

function visible(services: readonly Service[], namespace: string, links: boolean): Service[] {
  const byName = new Map<string, Service>();
  for (const service of services) {
    const { name = "", namespace: where = "" } = service.metadata;
    const { clusterIP = "" } = service.spec ?? {};
    if (clusterIP === "" || clusterIP === "None") continue;
    const isMaster = where === MASTER.namespace && name === MASTER.name;
    // A pod's own service of that name hides the API server's.
    if (where === namespace && links) byName.set(name, service);
    else if (isMaster && !byName.has(name)) byName.set(name, service);
  }
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, service]) => service);
}

function* variables({ metadata, spec }: Service): Generator<[string, string]> {
  const { clusterIP = "", ports = [] } = spec ?? {};
  const prefix = upper(metadata.name ?? "");
  const [first] = ports;
  yield [`${prefix}_SERVICE_HOST`, clusterIP];
  if (first === undefined) return;
  yield [`${prefix}_SERVICE_PORT`, String(first.port)];
  for (const { name = "", port } of ports) {
    if (name !== "") yield [`${prefix}_SERVICE_PORT_${upper(name)}`, String(port)];
  }
  const host = isIPv6(clusterIP) ? `[${clusterIP}]` : clusterIP;
  for (const [index, { protocol = "TCP", port }] of ports.entries()) {
    const url = `${protocol.toLowerCase()}://${host}:${port}`;
    if (index === 0) yield [`${prefix}_PORT`, url];
    const name = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`;
    yield [name, url];
    yield [`${name}_PROTO`, protocol.toLowerCase()];
    yield [`${name}_PORT`, String(port)];
    yield [`${name}_ADDR`, clusterIP];
  }
}

function upper(name: string): string {
  return name.toUpperCase().replaceAll("-", "_");
}
