// Settings that the kubelet accepts but does not act on, and those it cannot use. The start-up log and --print-config
// name each one that the operator set to another value than its default; of a gate of another component they name the
// component. The tables decide (`actedOn` in fields/fields.ts and gates/table.ts); test/main/command/readers.test.ts
// compares both columns with the code that reads fields and gates.

import type { FieldPath } from "../fields/fields.js";
import { OTHER_COMPONENTS } from "../gates/other-components.js";
import { GATES, type Gate, type GateName } from "../gates/table.js";
import type { EffectiveConfig } from "./effective.js";
import { canonical } from "./field-values.js";
import { originText, type Origin } from "./origin.js";
import { FIELD_ROWS, FIELD_SHAPES } from "./shape.js";
import { at, plain, treeOf } from "./tree.js";

/** One line per source (a file or a flag) and kind; none when everything that is set has an effect. */
export function withoutEffect(config: EffectiveConfig): string[] {
  const fields = FIELD_ROWS.filter(([path, { actedOn }]) => actedOn === false && isChanged(config, path));
  const named = Object.entries(config.get("featureGates") ?? {}).filter(([name, on]) => isIdle(name, on));
  const own = named.filter(([name]) => !OTHER_COMPONENTS.has(name));
  const foreign = named.flatMap(([name]) => {
    const component = OTHER_COMPONENTS.get(name);
    return component === undefined ? [] : [[`${name} (${component})`, gateOrigin(config, name)] as const];
  });
  return [
    ...lines(
      "these fields have no effect in this kubelet",
      fields.map(([path]) => [path, config.origin(path)]),
    ),
    ...lines("these feature gates have no effect in this kubelet", [
      ...own.map(([name]) => [name, gateOrigin(config, name)] as const),
      ...setByStage(config),
    ]),
    ...lines("these feature gates concern other components, not this kubelet", foreign),
  ];
}

function gateOrigin(config: EffectiveConfig, name: string): Origin {
  return config.origin(`featureGates[${name}]`);
}

/** Gates of the kubelet that only AllAlpha or AllBeta sets. */
function setByStage(config: EffectiveConfig): (readonly [name: string, origin: Origin])[] {
  const given = config.get("featureGates") ?? {};
  return (Object.entries(GATES) as [GateName, Gate][])
    .filter(([name]) => given[name] === undefined && !OTHER_COMPONENTS.has(name) && isIdle(name, config.gate(name)))
    .map(([name, { stage }]) => [name, gateOrigin(config, stage === "ALPHA" ? "AllAlpha" : "AllBeta")]);
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
