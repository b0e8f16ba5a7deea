// Pods with ConfigMaps and Secrets as volumes and variables, and the changes of these objects by their users.

import type { Random } from "../kernel/random.js";
import { CONFIG_NAMESPACE, CONFIGS, type ConfigChange, type ConfigKind } from "../world/config-objects.js";
import type { Action } from "./events.js";
import { namespaceOf, type PodShape } from "./pod-shapes.js";

/** An object that a pod names. */
export interface ConfigUse {
  /** Name of the volume, or of the variable. */
  as: string;
  kind: ConfigKind;
  name: string;
  isOptional: boolean;
  /** Only this key, at this path; absent: all of them under their names. */
  item?: { key: string; path: string };
}

/** Part of the pods of the API that have some. */
const SHARE = 0.7;
const OPTIONAL = 0.3;
const IN_BUSY = 10;
const IN_CALM = 4;
/** Before the checks of the round. */
const REST_MS = 240_000;
const MOST_AWAY_MS = 60_000;

/** Variable of a key. */
export const KEY_VARIABLE = "FROM_KEY";
/** Before the variables of a whole object. */
export const PREFIX = "ALL_";

const PROJECTED = "projected";

export class OwnConfigs {
  constructor(private readonly random: Random) {}

  /** The pod as it is on this node. */
  shape(plain: PodShape): PodShape {
    const { random } = this;
    if (!random.chance(SHARE) || plain.isStatic || namespaceOf(plain) !== CONFIG_NAMESPACE) return plain;
    const volumes = Array.from({ length: 1 + random.below(2) }, (_, index) => {
      const use = this.use(`config-${index}`);
      return random.chance(0.3) ? { ...use, item: { key: "a", path: "below/it" } } : use;
    });
    const projected = random.chance(0.4) ? [this.use(PROJECTED), this.use(PROJECTED)] : [];
    const variable = random.chance(0.5) ? this.use(KEY_VARIABLE) : undefined;
    const all = random.chance(0.3) ? this.use(PREFIX) : undefined;
    const uses = [...volumes, ...distinct(projected), variable, all].flatMap((one) => one ?? []);
    return configOf(plain, uses);
  }

  /** Events of one round, which is busy until `calm` and checked at `end`. */
  events(begin: number, calm: number, end: number): (readonly [atMs: number, action: Action])[] {
    const some = (count: number, from: number, to: number) =>
      Array.from({ length: count }, () => [Math.round(this.random.between(from, to)), this.change()] as const);
    return [...some(IN_BUSY, begin, calm), ...some(IN_CALM, calm, end - REST_MS)];
  }

  private change(): ConfigChange {
    const { random } = this;
    const [kind, name] = random.pick(CONFIGS);
    if (random.chance(0.8)) return { do: "config-changes", kind, name };
    return { do: "config-removed", kind, name, ms: 1000 + random.below(MOST_AWAY_MS) };
  }

  private use(as: string): ConfigUse {
    const [kind, name] = this.random.pick(CONFIGS);
    return { as, kind, name, isOptional: this.random.chance(OPTIONAL) };
  }
}

/** The pod, whose first container has these. */
export function configOf(plain: PodShape, configs: readonly ConfigUse[]): PodShape {
  const named = (name: string): ConfigUse[] => configs.filter(({ as }) => as === name);
  const volumes: { name: string }[] = configs.filter(({ as }) => as.startsWith("config-")).map(volumeOf);
  const projected = named(PROJECTED);
  if (projected.length > 0) volumes.push({ name: PROJECTED, ...projectedOf(projected) });
  const [first, ...others] = plain.spec["containers"] as Record<string, unknown>[];
  const mounts = volumes.map(({ name }) => ({ name, mountPath: `/etc/${name}` }));
  const container: Record<string, unknown> = {
    ...first,
    volumeMounts: [...((first?.["volumeMounts"] ?? []) as object[]), ...mounts],
    env: named(KEY_VARIABLE).map(keyVariable),
    envFrom: named(PREFIX).map((use) => ({ prefix: PREFIX, [fieldOf(use.kind)]: referenceOf(use) })),
  };
  const spec = {
    ...plain.spec,
    volumes: [...((plain.spec["volumes"] ?? []) as object[]), ...volumes],
    containers: [container, ...others],
  };
  return { ...plain, configs, spec };
}

/** Two sources of one object would have the same paths. */
function distinct(uses: readonly ConfigUse[]): ConfigUse[] {
  return uses.filter((use, index) => uses.findIndex(({ kind }) => kind === use.kind) === index).map(inFolder);
}

/** Each kind below a folder of its own; whole objects would meet at their keys. */
function inFolder(use: ConfigUse): ConfigUse {
  return { ...use, item: { key: "b", path: `${use.kind}/b` } };
}

function volumeOf(use: ConfigUse): { name: string } {
  const { as, kind, name, isOptional: optional, item } = use;
  const items = item === undefined ? {} : { items: [item] };
  const source =
    kind === "configmaps"
      ? { configMap: { name, optional, ...items } }
      : { secret: { secretName: name, optional, ...items } };
  return { name: as, ...source };
}

function projectedOf(uses: readonly ConfigUse[]): object {
  return { projected: { sources: uses.map(sourceOf) } };
}

function sourceOf({ kind, name, isOptional: optional, item }: ConfigUse): object {
  const items = item === undefined ? [] : [item];
  return { [kind === "configmaps" ? "configMap" : "secret"]: { name, optional, items } };
}

function keyVariable(use: ConfigUse): object {
  const field = use.kind === "configmaps" ? "configMapKeyRef" : "secretKeyRef";
  return { name: KEY_VARIABLE, valueFrom: { [field]: { ...referenceOf(use), key: "a" } } };
}

function fieldOf(kind: ConfigKind): string {
  return kind === "configmaps" ? "configMapRef" : "secretRef";
}

function referenceOf({ name, isOptional }: ConfigUse): object {
  return { name, optional: isOptional };
}
