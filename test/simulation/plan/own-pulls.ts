// Pods with images that take their time to pull, and cuts in the middle of pulls.

import type { Random } from "../kernel/random.js";
import { LAYERED_IMAGES } from "../world/image-layers.js";
import type { Action } from "./events.js";
import type { PodShape } from "./pod-shapes.js";

/** Part of the pods that have such an image. */
const SHARE = 0.6;
/** Cuts of a round. */
const CUTS = 4;

export class OwnPulls {
  constructor(private readonly random: Random) {}

  shape(plain: PodShape): PodShape {
    const { random } = this;
    if (!random.chance(SHARE)) return plain;
    const [first, ...others] = plain.spec["containers"] as Record<string, unknown>[];
    const image = random.pick(LAYERED_IMAGES);
    const containers = [{ ...first, image, imagePullPolicy: "IfNotPresent" }, ...others];
    return { ...plain, spec: { ...plain.spec, containers } };
  }

  /** Events of one round, which is busy until `calm`. */
  events(begin: number, calm: number): (readonly [atMs: number, action: Action])[] {
    const { random } = this;
    return Array.from({ length: CUTS }, () => [Math.round(random.between(begin, calm)), this.cut()] as const);
  }

  private cut(): Action {
    const { random } = this;
    switch (random.below(3)) {
      case 0:
        return { do: "pull-cut", fault: { do: "kill", downMs: random.pick([0, 1000, 20_000]) } };
      case 1:
        return { do: "pull-cut", fault: { do: "runtime-restart", ms: random.below(20_000) } };
      default:
        return { do: "pull-cut", fault: { do: "reboot", downMs: 5000 + random.below(20_000) } };
    }
  }
}
