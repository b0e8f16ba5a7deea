// A configuration for tests of rules: the defaults of the field table, and what the test gives over them.

import { parseDuration } from "../../src/main/command/duration.js";
import { FIELDS, type Field, type FieldPath, type FieldValue } from "../../src/main/command/fields/fields.js";
import { GATES, type GateName } from "../../src/main/command/gates/table.js";
import type { ConfigView } from "../../src/main/command/rules/rule.js";

/** Values as they are once decoded (durations: ms); undefined takes a default away. */
export type GivenFields = { readonly [P in FieldPath]?: FieldValue<P> | undefined };
export type GivenGates = { readonly [N in GateName]?: boolean };

/** Defaults that exist only while a gate is on. */
const GATED_DEFAULTS: readonly (readonly [GateName, FieldPath, unknown])[] = [
  ["KubeletCrashLoopBackOffMax", "crashLoopBackOff.maxContainerRestartPeriod", 300_000],
  ["KubeletEnsureSecretPulledImages", "imagePullCredentialsVerificationPolicy", "NeverVerifyPreloadedImages"],
];

/** `gates` may turn locked gates too: the rules must hold for both sides of every gate. */
export function configView(given: GivenFields = {}, gates: GivenGates = {}): ConfigView {
  const gate = (name: GateName): boolean => gates[name] ?? GATES[name].default;
  const values = new Map<string, unknown>();
  for (const [path, field] of Object.entries(FIELDS)) values.set(path, decodedDefault(field));
  for (const [name, path, value] of GATED_DEFAULTS) if (gate(name)) values.set(path, value);
  for (const [path, value] of Object.entries(given)) values.set(path, value);
  return {
    get: <P extends FieldPath>(path: P) => values.get(path) as FieldValue<P> | undefined,
    isSet: (path) => given[path] !== undefined,
    gate,
  };
}

function decodedDefault(field: Field): unknown {
  const isDuration = field.type === "duration" || field.type === "durationOrNanos";
  return isDuration && typeof field.default === "string" ? parseDuration(field.default) : field.default;
}
