// Computes the effective feature gates from the requested ones and the table. AllAlpha and AllBeta set the gates of
// their stage that the configuration does not name.

import { nearestName } from "../../../shared/base/text/nearest-name.js";
import type { Violation } from "../violation.js";
import { LATER_GATES } from "./later-gates.js";
import { GATES, type Gate, type GateName, type Stage } from "./table.js";

const TABLE: Readonly<Record<GateName, Gate>> = GATES;
const NAMES = Object.keys(TABLE) as GateName[];
const WHOLE_STAGES: readonly (readonly [GateName, Stage])[] = [
  ["AllAlpha", "ALPHA"],
  ["AllBeta", "BETA"],
];

/** The gates in force. Every gate of the table has a state. */
class FeatureGates {
  constructor(private readonly states: ReadonlyMap<string, boolean>) {}

  enabled(name: GateName): boolean {
    return this.states.get(name) ?? TABLE[name].default;
  }

  /** Every gate and its state, by name: for logs and the kubernetes_feature_enabled metric. */
  *entries(): Iterable<readonly [name: GateName, enabled: boolean, stage: Stage]> {
    for (const name of NAMES) yield [name, this.enabled(name), TABLE[name].stage];
  }
}

export interface ResolvedGates {
  gates: FeatureGates;
  /** Path `featureGates[Name]`. A refused gate keeps its default. */
  violations: Violation[];
  /** A line for the log each: gates whose days are numbered. */
  notices: string[];
}

/**
 * @param given gates by name, as the file and the flags together set them.
 */
export function resolveGates(given: Readonly<Record<string, boolean>>): ResolvedGates {
  const violations: Violation[] = [];
  const notices: string[] = [];
  const asked = new Map<GateName, boolean>();
  for (const [name, on] of Object.entries(given)) {
    const problem = refusal(name, on);
    if (problem !== undefined) violations.push({ path: gatePath(name), message: problem });
    else if (isGate(name)) {
      asked.set(name, on);
      const notice = ageing(name);
      if (notice !== undefined) notices.push(notice);
    }
  }
  const gates = new FeatureGates(withWholeStages(asked));
  violations.push(...missingDependencies(gates, asked));
  return { gates, violations, notices };
}

const gatePath = (name: string): string => `featureGates[${name}]`;
const isGate = (name: string): name is GateName => Object.hasOwn(TABLE, name);

function refusal(name: string, on: boolean): string | undefined {
  if (LATER_GATES.has(name)) {
    return `${name} is a feature gate of Kubernetes 1.37, and this kubelet keeps the contract of 1.36; remove it here`;
  }
  if (!isGate(name)) {
    const meant = nearestName(name, NAMES);
    const advice = meant === undefined ? "remove it" : `did you mean ${meant}?`;
    return `${name} is not a feature gate of Kubernetes 1.36; ${advice}`;
  }
  const { locked, default: fixed } = TABLE[name];
  if (!locked || on === fixed) return undefined;
  return `${on} is not allowed: ${name} is locked to ${fixed} in Kubernetes 1.36; remove it or set it to ${fixed}`;
}

function ageing(name: GateName): string | undefined {
  const { stage } = TABLE[name];
  if (stage === "GA") return `feature gate ${name} is GA and will be removed in a later release: remove it`;
  if (stage === "DEPRECATED")
    return `feature gate ${name} is deprecated and will be removed in a later release: remove it`;
  return undefined;
}

function withWholeStages(asked: ReadonlyMap<GateName, boolean>): Map<string, boolean> {
  const states = new Map<string, boolean>(asked);
  for (const [all, stage] of WHOLE_STAGES) {
    const on = asked.get(all);
    if (on === undefined) continue;
    for (const name of NAMES) {
      const { stage: own, locked } = TABLE[name];
      if (own === stage && !locked && !asked.has(name) && name !== "AllAlpha" && name !== "AllBeta")
        states.set(name, on);
    }
  }
  return states;
}

/** A gate is refused while one it needs is off; the message names who can put it right. */
function* missingDependencies(gates: FeatureGates, asked: ReadonlyMap<GateName, boolean>): Iterable<Violation> {
  for (const name of NAMES) {
    if (!gates.enabled(name)) continue;
    const off = TABLE[name].dependsOn.filter((needed) => isGate(needed) && !gates.enabled(needed));
    if (off.length === 0) continue;
    const why = asked.has(name) ? "" : " (on, but not set explicitly)";
    yield {
      path: gatePath(name),
      message: `${name}${why} requires ${off.join(" and ")}, which is off; set ${name}=false or turn ${off.join(" and ")} on`,
    };
  }
}
