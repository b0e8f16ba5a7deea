// Examples of the validation rules: each row of config-validation.tsv is claimed by configurations it refuses and by
// neighbours it lets through.

import { resolveGates } from "../../../../src/main/command/gates/feature-gates.js";
import type { CheckedFlags } from "../../../../src/main/command/rules/flags.js";
import { validateConfig, validateFlags } from "../../../../src/main/command/rules/index.js";
import type { HostFacts } from "../../../../src/main/command/rules/rule.js";
import type { Violation } from "../../../../src/main/command/violation.js";
import { configView, type GivenFields, type GivenGates } from "../../../support/config-view.js";

/** Fields, and what stands around them. */
export interface Situation extends GivenFields {
  readonly gates?: GivenGates;
  readonly host?: HostFacts;
  readonly flags?: Partial<CheckedFlags>;
}

/** A refused situation, the path of every violation it has, and a part of the first message. */
export type Refused = readonly [given: Situation, at: string | readonly string[], says: string];

interface Claim {
  readonly bad: readonly Refused[];
  readonly good: readonly Situation[];
}

/** By `fields | error_when`; a text says why a row is no business of these rules. */
export type Claims = Readonly<Record<string, Claim | string>>;

export function violationsOf({ gates = {}, host = {}, flags = {}, ...fields }: Situation): Violation[] {
  return [
    ...resolveGates(fields.featureGates ?? {}).violations,
    ...validateConfig(configView(fields, gates), host),
    ...validateFlags({ exitOnLockContention: false, lockFile: "", cloudProvider: "", ...flags }),
  ];
}
