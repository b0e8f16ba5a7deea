// The text format of flags: the value types of config fields, and types that only flags have. Each kind decodes to a
// value type, so that a flag's value fits the field it mirrors.

import { isConfigSourceEntry } from "../../../shared/kubernetes/api/allowed-config-sources.js";
import { plainIP } from "../plain-ip.js";
import type { ValueType } from "../value-types.js";
import { ACCEPTED, ACCEPTED_AS_TEXT, accumulate, fromText, pairs, toText } from "../values.js";

type OwnKind =
  | "ip"
  | "port"
  /** IP addresses separated by commas; the rules say how many, and which. */
  | "nodeIPs"
  /** key=value pairs; a key alone has the empty value. */
  | "labels"
  /** Log level: decimal digits only. */
  | "level"
  /** "signal<value,signal<value". */
  | "thresholds"
  /** One key=value per use: the value may hold commas. */
  | "onePair"
  /** true, false, raw or v1.2.3. */
  | "version"
  /** yaml or json. */
  | "format"
  /** "namespace/name,namespace/prefix*". */
  | "configMaps"
  /** true, false or socket. */
  | "manifestAPI"
  /** own or grpc-js. */
  | "criChannel";

export type FlagKind = ValueType | OwnKind;

interface OwnRules {
  /** The type of the decoded value. */
  readonly type: ValueType;
  readonly accepted: string;
  readonly read: (text: string) => unknown;
}

const OWN: Readonly<Record<OwnKind, OwnRules>> = {
  ip: { type: "string", accepted: "an IP address", read: plainIP },
  port: {
    type: "int32",
    accepted: "a port from 0 to 65535",
    read: (text) => {
      const port = fromText("int32", text);
      return typeof port === "number" && port >= 0 && port <= 65535 ? port : undefined;
    },
  },
  nodeIPs: {
    type: "string",
    accepted: "one IP address, or an IPv4 and an IPv6 address separated by a comma",
    read: (text) => text.split(",").map(trimmedIP).join(","),
  },
  labels: {
    type: "stringMap",
    accepted: 'key=value pairs separated by commas, such as "zone=a,disk=ssd"',
    read: labels,
  },
  level: {
    type: "uint32",
    accepted: "a whole number from 0 to 2147483647",
    read: (text) => (/^\d{1,10}$/.test(text) && Number(text) <= 2147483647 ? Number(text) : undefined),
  },
  thresholds: {
    type: "stringMap",
    accepted: 'signal<value pairs separated by commas, such as "memory.available<100Mi,nodefs.available<10%"',
    read: (text) => pairs(text, "<", (value) => value),
  },
  onePair: {
    type: "stringMap",
    accepted: 'one key=value pair, such as "full-pcpus-only=true" (repeat the flag for more)',
    read: onePair,
  },
  version: {
    type: "string",
    accepted: "true, false, raw or a version such as v1.36.0",
    read: (text) => {
      if (text === "raw" || /^v\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$/.test(text)) return text;
      const bool = fromText("bool", text);
      return typeof bool === "boolean" ? String(bool) : undefined;
    },
  },
  format: {
    type: "string",
    accepted: "yaml or json",
    read: (text) => (text === "yaml" || text === "json" ? text : undefined),
  },
  manifestAPI: {
    type: "string",
    accepted: "true, false or socket",
    read: (text) => {
      if (text === "socket") return text;
      const bool = fromText("bool", text);
      return typeof bool === "boolean" ? String(bool) : undefined;
    },
  },
  criChannel: {
    type: "string",
    accepted: "own or grpc-js",
    read: (text) => (text === "own" || text === "grpc-js" ? text : undefined),
  },
  configMaps: {
    type: "strings",
    accepted:
      'ConfigMaps as namespace/name, separated by commas; a name may end with "*", such as kube-system/workers-*',
    read: configMaps,
  },
};

function own(kind: FlagKind): OwnRules | undefined {
  return Object.hasOwn(OWN, kind) ? OWN[kind as OwnKind] : undefined;
}

/** The value type that a kind decodes to. */
export function typeOf(kind: FlagKind): ValueType {
  return own(kind)?.type ?? (kind as ValueType);
}

/** A flag's text as its kind; undefined when it is not of that kind. */
export function readValue(kind: FlagKind, text: string): unknown {
  const rules = own(kind);
  return rules === undefined ? fromText(kind as ValueType, text) : rules.read(text);
}

/** Text that readValue reads back. */
export function writeValue(kind: FlagKind, value: unknown): string {
  const text = toText(typeOf(kind), value as never);
  if (kind !== "thresholds") return text;
  return Object.entries(value as Record<string, string>)
    .map(([signal, limit]) => `${signal}<${limit}`)
    .sort()
    .join(",");
}

/** Completes "… is not" and "… needs a value:". */
export function accepted(kind: FlagKind): string {
  const type = typeOf(kind);
  return own(kind)?.accepted ?? ACCEPTED_AS_TEXT[type] ?? ACCEPTED[type];
}

/** Two uses of a flag together: lists and maps add up, of other values the later one counts. */
export function together(kind: FlagKind, before: unknown, after: unknown): unknown {
  return accumulate(typeOf(kind), before, after);
}

function trimmedIP(text: string): string {
  const trimmed = text.trim();
  return plainIP(trimmed) ?? trimmed;
}

/** As upstream's ConfigurationMap: nothing is refused here. */
function labels(text: string): Record<string, string> {
  const pairs = text.split(",").filter((pair) => pair !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key = "", ...value] = pair.split("=");
      return [key.trim(), value.join("=").trim()];
    }),
  );
}

function configMaps(text: string): unknown {
  const entries = fromText("strings", text);
  return Array.isArray(entries) && entries.every((entry) => isConfigSourceEntry(String(entry))) ? entries : undefined;
}

function onePair(text: string): Record<string, string> | undefined {
  const at = text.indexOf("=");
  const key = text.slice(0, Math.max(at, 0)).trim();
  if (text === "") return {};
  return key === "" ? undefined : Object.fromEntries([[key, text.slice(at + 1).trim()]]);
}
