// Manifests and nodes for tests of the commands that take manifests.

import type { NodeManifest, NodeState } from "../../../src/cli/manifests/node-manifests.js";
import type { Manifest } from "../../../src/cli/manifests/read.js";
import type { Pod } from "../../../src/shared/kubernetes/api/pod.js";
import { pod } from "../../support/pods.js";

const NODE = "Node-1";
const SOURCE = "kubernetes.io/config.source";

export function written(name: string, spec: object = { containers: [] }, metadata: object = {}): Manifest {
  const whole = { name, namespace: "default", ...metadata };
  return {
    ...{ name, namespace: "default", file: "web.yaml", line: 1 },
    metadata: JSON.stringify(whole),
    spec: JSON.stringify(spec),
  };
}

export function kept(name: string, fields: Partial<NodeManifest> = {}): NodeManifest {
  return {
    ...{ name, namespace: "default", resourceVersion: "7", refused: false },
    metadata: { namespace: "default", name },
    spec: { containers: [] },
    ...fields,
  };
}

/** The pod that a manifest of this name makes; `source` as in its annotation. */
export function running(name: string, source: "file" | "http" | undefined): Pod {
  const made = pod({ nodeName: NODE }, `${name}-node-1`);
  const annotations = source === undefined ? {} : { [SOURCE]: source };
  return { ...made, metadata: { ...made.metadata, namespace: "default", annotations } };
}

export function state(fields: Partial<NodeState> = {}): NodeState {
  return { node: NODE, manifests: [], pods: [], rules: {}, staticPodPath: "/etc/manifests", hasURL: false, ...fields };
}
