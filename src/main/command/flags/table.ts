// Every flag of the kubelet, by subject. The reader of the command line, --help, the start-up log and the config fields
// use these tables.
// Source: upstream's flags of Kubernetes 1.36, those of the Docker Engine of Kubernetes 1.23, and thirteen of our own
// (print-config, check-config, dynamic-config-dir, dynamic-config-sources, admin-socket, admin-socket-group,
// status-page, status-page-port, read-only-pods, manifest-api, cri-channel, api-server-port, api-server-address).

import type { Flag, Flags, Group } from "./flag.js";
import { API_SERVER, LOGS, START } from "./general.js";
import { LEFTOVERS, WINDOWS_ONLY } from "./leftovers.js";
import { NODE, SERVERS, SOURCES } from "./node.js";
import { EVICTION, RESOURCES } from "./resources.js";
import { DOCKER, NETWORK, RUNTIME, VOLUMES } from "./runtime.js";

export const FLAGS_BY_GROUP: Readonly<Record<Group, Flags>> = {
  "Start and configuration": START,
  "API server and credentials": API_SERVER,
  Node: NODE,
  "Static pods": SOURCES,
  "HTTP servers, authentication and authorization": SERVERS,
  "Container runtime and images": RUNTIME,
  "Docker Engine as the container runtime": DOCKER,
  "Pod network": NETWORK,
  "CPU, memory and cgroups": RESOURCES,
  "Eviction and garbage collection": EVICTION,
  Volumes: VOLUMES,
  Logging: LOGS,
  Windows: WINDOWS_ONLY,
  "Accepted, without effect": LEFTOVERS,
};

/** The flags of a platform. */
export interface KnownFlags {
  readonly byName: ReadonlyMap<string, Flag>;
  /** Long names by letter. */
  readonly byLetter: ReadonlyMap<string, string>;
}

const COMMON = knownOn("linux");
const WINDOWS = knownOn("win32");

export function flagsOf(platform: NodeJS.Platform): KnownFlags {
  return platform === "win32" ? WINDOWS : COMMON;
}

function knownOn(platform: NodeJS.Platform): KnownFlags {
  const all = Object.values(FLAGS_BY_GROUP).flatMap((flags) => Object.entries(flags));
  const byName = new Map(all.filter(([, flag]) => flag.platform === undefined || flag.platform === platform));
  const letters = [...byName].map(([name, { short }]): [string, string] => [short ?? "", name]);
  return { byName, byLetter: new Map(letters.filter(([letter]) => letter !== "")) };
}
