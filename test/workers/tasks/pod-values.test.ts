// Zero values, nulls and bounds of a pod's fields against upstream. test/facts/pod-values.jsonl has a pod with nearly
// all fields in its first line, pod-reference-values.jsonl one that refers to objects of the API (without the gate
// PreventStaticPodAPIReferences). Each further line sets one value ("", null, 0, a maximum, …) or leaves it out, and
// has what the decoding, defaulting and validation of Kubernetes 1.36 made of it: an error, or the changes of the
// result.

import { deepEqual, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseExactJson } from "../../../src/shared/io/yaml/json.js";
import { textWithDigits } from "../../../src/shared/kubernetes/api/wide-integers.js";
import { decodeManifest } from "../../../src/workers/tasks/manifest/decode.js";

type Path = (string | number)[];
type Place = [path: Path] | [path: Path, value: unknown];
interface Row {
  set: Place;
  error?: true;
  changes?: Place[];
}

/** What differs on purpose, or for a reason. */
const DIFFERENT: Readonly<Record<string, readonly string[]>> = {
  "refused: upstream takes it, and its containers never start": [
    "metadata.uid",
    "spec.containers.0.ports.0.hostIP",
    "spec.containers.1.securityContext.seccompProfile.localhostProfile",
    "spec.volumes.0.emptyDir.medium",
  ],
  "a quantity beyond 2^63 is shown as 2^63-1": [
    "spec.containers.0.resources.limits.cpu",
    "spec.containers.0.resources.limits.memory",
    "spec.overhead.cpu",
    "spec.volumes.0.emptyDir.sizeLimit",
  ],
  "projected volumes without sources": [
    "spec.volumes.3.projected",
    "spec.volumes.3.projected.sources",
    "spec.volumes.3.projected.sources.0",
    "spec.volumes.6.projected",
    "spec.volumes.6.projected.sources",
  ],
};

/** Taken here. */
const LOOSER: Readonly<Record<string, readonly string[]>> = {
  "the record was made under a cluster's policy without privileged containers; a kubelet allows them": [
    "spec.containers.0.securityContext.privileged",
  ],
};

interface Recorded {
  base: { pod: object; result: object };
  rows: Row[];
  /** Gate PreventStaticPodAPIReferences. */
  preventAPIReferences: boolean;
}

function recordOf(name: string, preventAPIReferences: boolean): Recorded {
  const path = join(import.meta.dirname, "../../../../test/facts", name);
  const [first = "", ...lines] = readFileSync(path, "utf8").trimEnd().split("\n");
  const base = JSON.parse(first) as Recorded["base"];
  return { base, rows: lines.map((line) => parseExactJson(line)?.value as Row), preventAPIReferences };
}
const records = [recordOf("pod-values.jsonl", true), recordOf("pod-reference-values.jsonl", false)];

function withPlaces(value: object, places: readonly Place[]): object {
  const copy = structuredClone(value);
  for (const [path, ...set] of places) {
    let target = copy as Record<string | number, never>;
    for (const step of path.slice(0, -1)) target = target[step] as never;
    const last = path.at(-1) ?? "";
    if (set.length === 0 && Array.isArray(target)) target.splice(Number(last), 1);
    else target[last] = set[0] as never;
  }
  return copy;
}

function textOf(pod: object): string {
  const json = JSON.stringify(pod, (_, value: unknown) => (typeof value === "bigint" ? `@${value}@` : value));
  return json.replace(/"@(-?\d+)@"/g, "$1");
}

/** Without what is undefined. */
function written(value: object): unknown {
  return parseExactJson(textOf(value))?.value;
}

/** The decoded pod as upstream's table has it, or a list of violations. */
function resultOf(pod: object, { preventAPIReferences }: Recorded): unknown {
  const origin = { kind: "file" as const, path: "/m" };
  const { pods, error } = decodeManifest({ origin, text: textOf(pod), nodeName: "n", preventAPIReferences });
  const [decoded] = pods;
  if (decoded === undefined) return error;
  const { uid: _uid, annotations = {}, ...metadata } = decoded.metadata;
  const own = Object.entries(annotations).filter(([key]) => !key.startsWith("kubernetes.io/config."));
  if (own.length > 0) Object.assign(metadata, { annotations: Object.fromEntries(own) });
  // As a server's thread gets it (main/threads/pod-texts.ts).
  return parseExactJson(textWithDigits({ metadata, spec: decoded.spec }, decoded.wideIntegers))?.value;
}

test("what upstream takes is taken, with upstream's value", () => {
  ok(records.flatMap(({ rows }) => rows).length > 3500);
  const different = new Set<string>();
  for (const record of records) {
    const { base, rows } = record;
    deepEqual(resultOf(base.pod, record), base.result);
    for (const { set, error, changes = [] } of rows) {
      if (error === true) continue;
      try {
        deepEqual(resultOf(withPlaces(base.pod, [set]), record), written(withPlaces(base.result, changes)));
      } catch {
        different.add(set[0].join("."));
      }
    }
  }
  deepEqual([...different].sort(), Object.values(DIFFERENT).flat().sort());
});

test("what upstream refuses is refused", () => {
  const taken = new Set<string>();
  for (const record of records) {
    for (const { set, error } of record.rows) {
      if (error !== true) continue;
      const result = resultOf(withPlaces(record.base.pod, [set]), record);
      if (!Array.isArray(result)) taken.add(set[0].join("."));
    }
  }
  deepEqual([...taken].sort(), Object.values(LOOSER).flat().sort());
});
