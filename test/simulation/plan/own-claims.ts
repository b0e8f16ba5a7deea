// Pods with persistent volume claims, on a node with a CSI driver, and faults of the driver. Pods share the claims.

import type { Random } from "../kernel/random.js";
import { CLAIMS, LONE_CLAIM } from "../world/csi-plugin.js";
import type { NodeShape } from "../world/node-shape.js";
import type { Action } from "./events.js";
import type { PodShape } from "./pod-shapes.js";

/** Part of the pods of the API that have a claim. */
const SHARE = 0.5;
/** Part of the faults that are the driver's. */
const FAULTS = 0.25;

export class OwnClaims {
  constructor(
    private readonly random: Random,
    private readonly node: NodeShape,
  ) {}

  /** The pod as it is on this node. */
  shape(plain: PodShape): PodShape {
    const { random } = this;
    if (!random.chance(SHARE) || plain.isStatic) return plain;
    const claim = random.pick(CLAIMS);
    const volumes = [
      ...((plain.spec["volumes"] ?? []) as object[]),
      { name: "data", persistentVolumeClaim: { claimName: claim } },
    ];
    const [first, ...others] = plain.spec["containers"] as Record<string, unknown>[];
    const volumeMounts = [...((first?.["volumeMounts"] ?? []) as object[]), { name: "data", mountPath: "/data" }];
    // The world has no scheduler: another pod may have the volume for itself.
    const isSteady = plain.isSteady && (this.node.hasLoneVolume !== true || claim !== LONE_CLAIM);
    return {
      ...plain,
      isSteady,
      claim,
      spec: { ...plain.spec, volumes, containers: [{ ...first, volumeMounts }, ...others] },
    };
  }

  /** Undefined: the fault is another one. */
  fault(): Action | undefined {
    const { random } = this;
    if (!random.chance(FAULTS)) return undefined;
    const ms = 1000 + random.below(40_000);
    switch (random.below(3)) {
      case 0:
        return { do: "csi-away", ms };
      case 1:
        return { do: "csi-slow", lateMs: random.below(30_000), ms };
      default:
        return { do: "csi-fails", share: random.pick([0.3, 1]), when: random.pick(["before", "after"] as const), ms };
    }
  }
}
