// Fields of a Pod that Kubernetes 1.37 has added. This kubelet, of 1.36, keeps and shows them, passes them on, and does
// nothing else with them. docs/kubernetes-1.37.md has a row for each; test/shared/kubernetes/api/later-fields.test.ts
// compares both.

import type { FieldPath } from "./manifest/field-path.js";

export interface FoundField {
  path: FieldPath;
  /** The feature gate of 1.37 that has the field. */
  gate: string;
}

interface LaterField {
  /** "[]" stands for each item of a list. */
  path: string;
  gate: string;
  /** The value that asks for what this kubelet does anyway. */
  usual?: string;
  /** Other components read the field, and no kubelet. */
  isForOthers?: true;
}

const CONTAINERS = ["spec.containers[]", "spec.initContainers[]", "spec.ephemeralContainers[]"];
const HTTP = ["livenessProbe", "readinessProbe", "startupProbe", "lifecycle.postStart", "lifecycle.preStop"];
const GRPC = ["livenessProbe", "readinessProbe", "startupProbe"];
const VOLUME = "spec.volumes[]";
const SOURCE = `${VOLUME}.projected.sources[]`;
const OWNERS = [
  ...["secret", "configMap", "downwardAPI", "projected"].map((source) => `${VOLUME}.${source}.defaultUser`),
  ...["secret", "configMap", "downwardAPI"].flatMap((source) => [
    `${VOLUME}.${source}.items[].user`,
    `${SOURCE}.${source}.items[].user`,
  ]),
  ...["serviceAccountToken", "clusterTrustBundle", "podCertificate"].map((source) => `${SOURCE}.${source}.user`),
];

/** @internal */
export const LATER_FIELDS: readonly LaterField[] = [
  { path: "spec.evictionResponders", gate: "EvictionRequestAPI", isForOthers: true },
  { path: `${VOLUME}.emptyDir.mode`, gate: "EmptyDirVolumeMode" },
  ...OWNERS.map((path) => ({ path, gate: "AtomicWriteVolumeUserFields" })),
  ...CONTAINERS.flatMap((container): LaterField[] => [
    { path: `${container}.volumeMounts[].bindMountOptions`, gate: "VolumeBindMountOptions" },
    ...HTTP.map((handler) => ({
      path: `${container}.${handler}.httpGet.protocol`,
      gate: "H2CContainerProbe",
      usual: "HTTP1",
    })),
    ...GRPC.map((probe) => ({
      path: `${container}.${probe}.grpc.mode`,
      gate: "GRPCContainerProbeTLS",
      usual: "Plaintext",
    })),
  ]),
];

/** Patterns by their first step, then by the next one: a pod is walked once. */
interface Branch {
  field?: LaterField;
  steps: Map<string, Branch>;
}

const ROOT: Branch = { steps: new Map() };
for (const field of LATER_FIELDS) {
  let branch = ROOT;
  for (const step of field.path.split(/\.|(?=\[)/)) {
    let next = branch.steps.get(step);
    if (next === undefined) branch.steps.set(step, (next = { steps: new Map() }));
    branch = next;
  }
  branch.field = field;
}

/** The fields of the pod by which it asks a kubelet of 1.37 for something that this kubelet does not do. */
export function laterFields(pod: object): FoundField[] {
  return [...found(pod, ROOT, [])].flatMap(({ path, value, field: { gate, usual, isForOthers } }) =>
    isForOthers === true || value === usual ? [] : [{ path, gate }],
  );
}

/** The pod without the fields of the list, whatever their values; the same object if it has none. */
export function withoutLaterFields<T extends object>(pod: T): T {
  const paths = [...found(pod, ROOT, [])].map(({ path }) => path);
  if (paths.length === 0) return pod;
  const copy = structuredClone(pod);
  for (const path of paths) {
    let target: Record<string | number, unknown> = copy as Record<string, unknown>;
    for (const step of path.slice(0, -1)) target = target[step] as Record<string | number, unknown>;
    Reflect.deleteProperty(target, path.at(-1) ?? "");
  }
  return copy;
}

interface Found {
  path: FieldPath;
  value: unknown;
  field: LaterField;
}

function* found(value: unknown, { field, steps }: Branch, path: FieldPath): Generator<Found> {
  if (field !== undefined && value !== undefined && value !== null) yield { path, value, field };
  if (typeof value !== "object" || value === null) return;
  for (const [step, branch] of steps) {
    if (step === "[]") {
      if (!Array.isArray(value)) continue;
      for (const [index, item] of value.entries()) yield* found(item, branch, [...path, index]);
    } else if (Object.hasOwn(value, step)) {
      yield* found((value as Record<string, unknown>)[step], branch, [...path, step]);
    }
  }
}
