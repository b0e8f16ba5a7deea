// Fields and feature gates that the kubelet accepts but does not act on. The start-up log names each one that the operator set to
// another value than its default. The tables decide (`actedOn` in fields.ts and gates/table.ts); test/main/command/readers.test.ts
// compares both columns with the code that reads fields and gates.
import { GATES, type Gate, type GateName } from "../gates/table.js";
import type { EffectiveConfig } from "./effective.js";
import { canonical } from "./field-values.js";
import type { FieldPath } from "./fields.js";
import { originText, type Origin } from "./origin.js";
import { FIELD_ROWS, FIELD_SHAPES } from "./shape.js";
import { at, plain, treeOf } from "./tree.js";

/** One line per source (a file or a flag) and kind; none when everything that is set has an effect. */
export function withoutEffect(config: EffectiveConfig): string[] {
  const fields = FIELD_ROWS.filter(([path, { actedOn }]) => actedOn === false && isChanged(config, path));
  const gates = Object.entries(config.get("featureGates") ?? {}).filter(([name, on]) => isIdle(name, on));
  return [
    ...lines(
      "these fields have no effect in this kubelet",
      fields.map(([path]) => [path, config.origin(path)]),
    ),
    ...lines(
      "these feature gates have no effect in this kubelet",
      gates.map(([name]) => [name, config.origin(`featureGates[${name}]`)]),
    ),
  ];
}

/** The operator gave the field, and not its default value. */
function isChanged(config: EffectiveConfig, path: FieldPath): boolean {
  const node = at(config.tree, path);
  const shape = FIELD_SHAPES.get(path);
  if (!config.isSet(path) || node === undefined || shape === undefined) return false;
  const standard = FIELD_ROWS.find(([row]) => row === path)?.[1].default;
  if (standard === undefined) return true;
  return JSON.stringify(plain(canonical(shape, treeOf(standard, node.origin)))) !== JSON.stringify(plain(node));
}

function isIdle(name: string, on: boolean): boolean {
  const gate = (GATES as Readonly<Record<string, Gate>>)[name as GateName];
  return gate !== undefined && !gate.actedOn && on !== gate.default;
}

function lines(what: string, named: readonly (readonly [name: string, origin: Origin])[]): string[] {
  const bySource = new Map<string, string[]>();
  for (const [name, origin] of named) {
    const source = "file" in origin ? origin.file : originText(origin);
    bySource.set(source, [...(bySource.get(source) ?? []), name]);
  }
  return [...bySource].map(([source, names]) => `${source}: ${what}: ${names.join(", ")}`);
}
