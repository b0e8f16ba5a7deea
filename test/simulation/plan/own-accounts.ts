// Pods of service accounts, with images that only some of these may pull, and faults of their credential provider. Some
// pods have an account without the right: they never run, though the image may be there.

import type { Random } from "../kernel/random.js";
import { BLUE, GREEN, IMAGE_A, IMAGE_B, OTHER_BLUE, PLAIN, RED } from "../world/service-accounts.js";
import type { Action } from "./events.js";
import type { PodShape } from "./pod-shapes.js";

/** Part of the pods that have such an image. */
const SHARE = 0.6;
/** Part of the faults that are those of accounts. */
const FAULTS = 0.25;

const ACCOUNTS = [BLUE, BLUE, RED, OTHER_BLUE, OTHER_BLUE, GREEN, PLAIN];

export class OwnAccounts {
  constructor(private readonly random: Random) {}

  /** The pod as it is on this node. Claims are in the namespace "default", and so stay their pods. */
  shape(plain: PodShape): PodShape {
    const { random } = this;
    const { claim, isStatic, spec } = plain;
    if (!random.chance(SHARE)) return plain;
    const account = random.pick(ACCOUNTS);
    const image = random.pick([IMAGE_A, IMAGE_B]);
    const imagePullPolicy = random.pick(["IfNotPresent", "IfNotPresent", "Always"]);
    if (account === OTHER_BLUE && (claim !== undefined || spec["resourceClaims"] !== undefined)) return plain;
    const [first, ...others] = spec["containers"] as Record<string, unknown>[];
    const containers = [{ ...first, image, imagePullPolicy }, ...others];
    const mayPull = !isStatic && account !== GREEN && account.pulls.includes(image);
    const isSteady = plain.isSteady && mayPull;
    // A static pod has no account.
    if (isStatic) return { ...plain, isSteady, spec: { ...spec, containers } };
    const { namespace, name: serviceAccountName } = account;
    return { ...plain, namespace, isSteady, spec: { ...spec, serviceAccountName, containers } };
  }

  /** Undefined: the fault is another one. */
  fault(): Action | undefined {
    const { random } = this;
    if (!random.chance(FAULTS)) return undefined;
    const ms = 1000 + random.below(60_000);
    switch (random.below(5)) {
      case 0:
        return { do: "login-fails", ms };
      case 1:
        return { do: "login-slow", lateMs: random.below(80_000), ms };
      case 2:
        return { do: "account-passwords-change" };
      default:
        return { do: "account-made-anew", name: random.pick(["blue", "green"] as const) };
    }
  }
}
