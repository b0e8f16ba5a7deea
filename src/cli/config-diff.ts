// Differences between two configurations: that of this kubelet, and one of a file. Pure.

import { omitUndefined } from "../shared/base/objects/omit-undefined.js";
import { isRecord } from "../shared/base/text/is-record.js";
import { readKubernetesYaml } from "../shared/io/yaml/kubernetes-yaml.js";
import { CliError, EXIT } from "./errors.js";
import { durationMs } from "./output/amounts.js";

export interface Difference {
  field: string;
  /** Absent: not set there. */
  here?: unknown;
  there?: unknown;
}

/**
 * The fields of a KubeletConfiguration: a file of --config, or the response of /configz of any kubelet. As JSON or
 * YAML. Values of staticPodURLHeader are masked, as those of this kubelet are: only names of headers are compared.
 * @throws CliError for another text
 */
export function otherConfig(text: string, name: string): { config: Record<string, unknown>; whole: boolean } {
  let read: unknown;
  try {
    read = readKubernetesYaml(text).root.value;
  } catch (error) {
    throw new CliError(EXIT.usage, `${name} is neither YAML nor JSON: ${error instanceof Error ? error.message : ""}`);
  }
  if (isRecord(read) && isRecord(read["kubeletconfig"])) return { config: masked(read["kubeletconfig"]), whole: true };
  if (isRecord(read) && (read["kind"] === "KubeletConfiguration" || read["kind"] === undefined)) {
    return { config: masked(read), whole: false };
  }
  throw new CliError(
    EXIT.usage,
    `${name} is no KubeletConfiguration`,
    "give a file of --config, or the response of a node: kubectl get --raw /api/v1/nodes/<node>/proxy/configz",
  );
}

function masked(config: Record<string, unknown>): Record<string, unknown> {
  const headers = config["staticPodURLHeader"];
  if (!isRecord(headers)) return config;
  const names = Object.keys(headers).map((name) => [name, ["<masked>"]] as const);
  return { ...config, staticPodURLHeader: Object.fromEntries(names) };
}

/**
 * By path. A file leaves fields open; an answer of /configz is complete, and leaves out fields that are not set or
 * zero.
 */
export function differences(
  here: Readonly<Record<string, unknown>>,
  there: Readonly<Record<string, unknown>>,
  whole: boolean,
): Difference[] {
  const found: Difference[] = [];
  const compare = (path: string, a: unknown, b: unknown): void => {
    if (isRecord(a) && isRecord(b)) {
      for (const key of new Set([...Object.keys(whole ? a : {}), ...Object.keys(b)])) {
        compare(path === "" ? key : /[.\]]/.test(key) ? `${path}[${key}]` : `${path}.${key}`, a[key], b[key]);
      }
      return;
    }
    if (isSame(a, b) || (whole && b === undefined && isZero(a))) return;
    found.push(omitUndefined({ field: path, here: a, there: b }));
  };
  compare("", here, there);
  const identity = new Set(["kind", "apiVersion"]);
  return found.filter(({ field }) => !identity.has(field)).sort((a, b) => (a.field < b.field ? -1 : 1));
}

/** Durations are the same however they are written, and an empty list or map is the same as none. */
function isSame(a: unknown, b: unknown): boolean {
  if (isEmpty(a) && isEmpty(b)) return true;
  if (typeof a === "string" && typeof b === "string") {
    const [first, second] = [durationMs(a), durationMs(b)];
    if (first !== undefined && first === second) return true;
  }
  return JSON.stringify(a) === JSON.stringify(b);
}

/** As Go writes no field with `omitempty`. */
function isZero(value: unknown): boolean {
  return value === false || value === 0 || value === "" || (typeof value === "string" && durationMs(value) === 0);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
