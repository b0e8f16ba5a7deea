// Pods with private images, on a node with a credential provider, and faults of it. Some pods lack the secret: they
// never run, though the image may be there.

import type { Random } from "../kernel/random.js";
import { PROVIDED_IMAGE, PULL_SECRET, SECRET_IMAGE } from "../world/registry.js";
import type { Action } from "./events.js";
import type { PodShape } from "./pod-shapes.js";

/** Part of the pods that have a private image. */
const SHARE = 0.5;
/** Part of the faults that are those of credentials. */
const FAULTS = 0.25;

export class OwnImages {
  constructor(private readonly random: Random) {}

  /** The pod as it is on this node. */
  shape(plain: PodShape): PodShape {
    const { random } = this;
    if (!random.chance(SHARE) || plain.isStatic) return plain;
    const access = random.pick(["provider", "secret", "secret", "none"]);
    const [first, ...others] = plain.spec["containers"] as Record<string, unknown>[];
    const image = access === "provider" ? PROVIDED_IMAGE : SECRET_IMAGE;
    const containers = [{ ...first, image, imagePullPolicy: random.pick(["IfNotPresent", "Always"]) }, ...others];
    const spec: Record<string, unknown> = { ...plain.spec, containers };
    if (access === "secret") spec["imagePullSecrets"] = [{ name: PULL_SECRET }];
    return { ...plain, isSteady: plain.isSteady && access !== "none", spec };
  }

  /** Undefined: the fault is another one. */
  fault(): Action | undefined {
    const { random } = this;
    if (!random.chance(FAULTS)) return undefined;
    const ms = 1000 + random.below(60_000);
    switch (random.below(3)) {
      case 0:
        return { do: "provider-fails", ms };
      case 1:
        return { do: "provider-slow", lateMs: random.below(80_000), ms };
      default:
        return { do: "passwords-change" };
    }
  }
}
