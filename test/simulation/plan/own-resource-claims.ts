// Pods with ResourceClaims, on a node with a DRA driver, and faults of the driver: some that meet its calls. Pods have
// claims of their own, made from a template, and share others.

import type { Random } from "../kernel/random.js";
import { REQUESTS, SHARED_CLAIMS, TEMPLATE } from "../world/claim-controller.js";
import type { Action } from "./events.js";
import type { PodShape } from "./pod-shapes.js";

/** Part of the pods of the API that have claims. */
const SHARE = 0.6;
/** Part of the faults that are the driver's. */
const FAULTS = 0.3;

/** As resources.claims of a container has it. */
export interface ContainerClaim {
  name: string;
  request?: string;
}

type ContainerSpec = Record<string, unknown> & { name: string; resources?: { claims?: ContainerClaim[] } };

export class OwnResourceClaims {
  constructor(private readonly random: Random) {}

  /** The pod as it is on this node. */
  shape(plain: PodShape): PodShape {
    const { random } = this;
    if (!random.chance(SHARE) || plain.isStatic) return plain;
    const has = random.pick(["own", "shared", "both"]);
    const resourceClaims = [
      ...(has === "shared" ? [] : [{ name: "own", resourceClaimTemplateName: TEMPLATE }]),
      ...(has === "own" ? [] : [{ name: "shared", resourceClaimName: random.pick(SHARED_CLAIMS) }]),
    ];
    const names = resourceClaims.map(({ name }) => name);
    const { containers, initContainers } = plain.spec as Record<string, ContainerSpec[] | undefined>;
    const spec: Record<string, unknown> = {
      ...plain.spec,
      resourceClaims,
      containers: (containers ?? []).map((one, at) => this.container(one, names, at === 0 ? 1 : 0.4)),
    };
    if (initContainers !== undefined)
      spec["initContainers"] = initContainers.map((one) => this.container(one, names, 0.3));
    return { ...plain, spec };
  }

  /** Undefined: the fault is another one. */
  fault(): Action | undefined {
    const { random } = this;
    if (!random.chance(FAULTS)) return undefined;
    const ms = 1000 + random.below(60_000);
    switch (random.below(6)) {
      case 0:
        return { do: "dra-away", ms };
      case 1:
        return { do: "dra-leaves", ms };
      case 2:
        return { do: "dra-slow", lateMs: random.below(60_000), ms };
      case 3:
        return { do: "dra-fails", share: random.pick([0.3, 1]), when: random.pick(["before", "after"] as const), ms };
      default: {
        const verb = random.pick(["NodePrepareResources", "NodeUnprepareResources"]);
        const fault: Action = random.chance(0.8)
          ? { do: "kill", downMs: random.pick([0, 1000, 20_000]) }
          : { do: "reboot", downMs: 5000 + random.below(30_000) };
        return { do: "aim", verb, fault };
      }
    }
  }

  private container(plain: ContainerSpec, names: readonly string[], share: number): ContainerSpec {
    const { random } = this;
    if (!random.chance(share)) return plain;
    const claims = names.map((name): ContainerClaim => {
      return random.chance(0.3) ? { name, request: random.pick(REQUESTS) } : { name };
    });
    return { ...plain, resources: { ...plain.resources, claims } };
  }
}
