// Nodes of races that are not plain.

import type { NodeShape } from "../world/node-shape.js";

export const NODE_WITH_CPUS: NodeShape = {
  cpus: 4,
  layout: { sockets: 1, cores: 4, threads: 1 },
  reserved: [0],
  isStrict: false,
  devices: 0,
  hasUserNamespaces: false,
  fields: { cpuManagerPolicy: "static", reservedSystemCPUs: "0" },
};

export const NODE_WITH_DEVICES: NodeShape = { ...NODE_WITH_CPUS, devices: 4 };
