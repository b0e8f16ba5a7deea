// Nodes of races that are not plain.

import { PLAIN_NODE, type NodeShape } from "../world/node-shape.js";

export const NODE_WITH_CPUS: NodeShape = {
  ...PLAIN_NODE,
  layout: { sockets: 1, cores: 4, threads: 1 },
  reserved: [0],
  fields: { cpuManagerPolicy: "static", reservedSystemCPUs: "0" },
};

export const NODE_WITH_DEVICES: NodeShape = { ...NODE_WITH_CPUS, devices: 4 };
