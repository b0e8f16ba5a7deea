// ConfigMaps and Secrets of the API that the node has, which users change, remove and make anew.
// Invariant: the content of each key names the object, the key and the version, and each odd version has one key more.

import type { ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import { kernel } from "../kernel/kernel.js";
import type { ClusterView } from "./cluster-view.js";
import type { ObjectClient, WrittenObject } from "./object-clients.js";

export type ConfigKind = "configmaps" | "secrets";

/** What users do: no fault of the node. */
export type ConfigChange =
  | { do: "config-changes"; kind: ConfigKind; name: string }
  /** It is made anew after `ms`. */
  | { do: "config-removed"; kind: ConfigKind; name: string; ms: number };

export const CONFIG_NAMESPACE = "default";
export const CONFIGS: readonly (readonly [kind: ConfigKind, name: string])[] = [
  ["configmaps", "settings"],
  ["configmaps", "rules"],
  ["secrets", "password"],
  ["secrets", "key"],
];

/** Keys that every version has. */
const KEYS = ["a", "b"];
const ODD_KEY = "odd";

interface Version {
  atMs: number;
  /** Undefined: there is no object. */
  number: number | undefined;
}

export class ConfigObjects {
  /** By kind and name, oldest first. */
  private readonly history = new Map<string, Version[]>();
  private last = 0;

  constructor(
    api: ClusterView,
    private readonly users: ObjectClient,
  ) {
    for (const kind of ["configmaps", "secrets"] as const)
      api.onChange(kind, ({ type, object }) => this.note(kind, type === "DELETED" ? undefined : object, object));
    for (const [kind, name] of CONFIGS) this.write(kind, name);
  }

  perform(change: ConfigChange): void {
    const { kind, name } = change;
    if (this.newest(kind, name) === undefined) return;
    if (change.do === "config-changes") this.write(kind, name);
    else {
      this.users.remove(kindOf(kind), name);
      kernel.after(kernel.world, change.ms, () => this.write(kind, name));
    }
  }

  /** Undefined: there is no such object now. */
  newest(kind: ConfigKind, name: string): number | undefined {
    return this.versionAt(kind, name, kernel.monotonic);
  }

  versionAt(kind: ConfigKind, name: string, atMs: number): number | undefined {
    return this.versionsOf(kind, name).findLast((version) => version.atMs <= atMs)?.number;
  }

  /** Whether the object was missing at some moment since then. */
  wasMissing(kind: ConfigKind, name: string, sinceMs: number): boolean {
    const versions = this.versionsOf(kind, name);
    if (this.versionAt(kind, name, sinceMs) === undefined) return true;
    return versions.some(({ atMs, number }) => atMs >= sinceMs && number === undefined);
  }

  changedAt(kind: ConfigKind, name: string): number {
    return this.versionsOf(kind, name).at(-1)?.atMs ?? 0;
  }

  private versionsOf(kind: ConfigKind, name: string): Version[] {
    return this.history.get(`${kind}/${name}`) ?? [];
  }

  /** `object`: as it is since this moment; undefined: it is gone. */
  private note(kind: ConfigKind, object: ApiObject | undefined, { metadata: { name } }: ApiObject): void {
    if (!CONFIGS.some((one) => one[0] === kind && one[1] === name)) return;
    const number = object === undefined ? undefined : versionIn(kind, object);
    if (object !== undefined && number === undefined) throw new Error(`${kind} ${name} has no content of a user`);
    this.history.set(`${kind}/${name}`, [...this.versionsOf(kind, name), { atMs: kernel.monotonic, number }]);
  }

  private write(kind: ConfigKind, name: string): void {
    const number = ++this.last;
    const texts = Object.fromEntries(keysOf(number).map((key) => [key, contentOf(kind, name, key, number)]));
    const encode = (text: string): string => (kind === "secrets" ? Buffer.from(text).toString("base64") : text);
    const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, encode(text)]));
    this.users.put({ kind: kindOf(kind), name, data });
  }
}

function kindOf(kind: ConfigKind): WrittenObject["kind"] {
  return kind === "configmaps" ? "ConfigMap" : "Secret";
}

function versionIn(kind: ConfigKind, object: ApiObject): number | undefined {
  const { [KEYS[0] ?? ""]: text = "" } = (object["data"] ?? {}) as Record<string, string>;
  return readContent(kind === "secrets" ? Buffer.from(text, "base64").toString() : text)?.version;
}

/** Keys of a version. */
export function keysOf(version: number): string[] {
  return version % 2 === 1 ? [...KEYS, ODD_KEY] : KEYS;
}

function contentOf(kind: ConfigKind, name: string, key: string, version: number): string {
  return `${kind} ${name} ${key} ${version}`;
}

/** The parts of a content; undefined: it is none. */
export function readContent(text: string): { object: string; key: string; version: number } | undefined {
  const [, object, key = "", version] = /^(\w+ \w+) (\w+) (\d+)$/.exec(text) ?? [];
  return object === undefined ? undefined : { object, key, version: Number(version) };
}
