// Manifests with fields that a later Kubernetes has: kept with a warning, never a reason to refuse the pod.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../../src/shared/kubernetes/api/pod.js";
import { decodeManifest } from "../../../src/workers/tasks/manifest/decode.js";
import { laterPodSpec } from "../../support/later-pod.js";

type Json = Record<string, unknown>;
const container = (more: Json = {}): Json => ({ name: "main", image: "busybox:1", ...more });

function decode(spec: Json): { pod: Pod; warnings: string[] } {
  const text = JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "web" }, spec });
  const { pods, warnings, error } = decodeManifest({ origin: { kind: "file", path: "/m/x" }, text, nodeName: "node" });
  assert.equal(error, undefined);
  const [pod] = pods;
  assert.ok(pod !== undefined);
  return { pod, warnings: warnings.map(({ field, message }) => `${field}: ${message}`) };
}

const KEPT = "kept, but without effect: a field of Kubernetes 1.37 (feature gate";
const volume = (source: Json): Json => ({ containers: [container()], volumes: [{ name: "v", ...source }] });

const kept: [what: string, spec: Json, field: string, gate: string][] = [
  ["emptyDir.mode", volume({ emptyDir: { mode: 0o1777 } }), "spec.volumes[0].emptyDir.mode", "EmptyDirVolumeMode"],
  [
    "the owner of files",
    volume({ downwardAPI: { defaultUser: 0 } }),
    "spec.volumes[0].downwardAPI.defaultUser",
    "AtomicWriteVolumeUserFields",
  ],
  [
    "options of a mount",
    { ...volume({ emptyDir: {} }), containers: [container({ volumeMounts: [mount(["nodev"])] })] },
    "spec.containers[0].volumeMounts[0].bindMountOptions",
    "VolumeBindMountOptions",
  ],
  [
    "the protocol of a probe",
    { containers: [container({ livenessProbe: { httpGet: { port: 80, protocol: "HTTP2" } } })] },
    "spec.containers[0].livenessProbe.httpGet.protocol",
    "H2CContainerProbe",
  ],
  [
    "the mode of a probe",
    { containers: [container({ readinessProbe: { grpc: { port: 80, mode: "TLS" } } })] },
    "spec.containers[0].readinessProbe.grpc.mode",
    "GRPCContainerProbeTLS",
  ],
];
for (const [what, spec, field, gate] of kept) {
  test(`${what} is kept with a warning`, () => {
    const { pod, warnings } = decode(spec);
    assert.deepEqual(warnings, [`${field}: ${KEPT} ${gate})`]);
    assert.notEqual(valueAt(pod, field), undefined);
  });
}

function mount(bindMountOptions: unknown): Json {
  return { name: "v", mountPath: "/v", bindMountOptions };
}

function valueAt(pod: Pod, field: string): unknown {
  return field
    .split(/[.[\]]+/)
    .filter((step) => step !== "")
    .reduce<unknown>((value, step) => (value as Json | undefined)?.[step], pod);
}

const wrong: [what: string, spec: Json, field: string, problem: RegExp][] = [
  ["a mode above 01777", volume({ emptyDir: { mode: 0o2777 } }), "spec.volumes[0].emptyDir.mode", /0 to 1023/],
  ["a mode of another type", volume({ emptyDir: { mode: "0755" } }), "spec.volumes[0].emptyDir.mode", /wrong type/],
  [
    "an unknown mount option",
    { ...volume({ emptyDir: {} }), containers: [container({ volumeMounts: [mount(["nosuids"])] })] },
    "spec.containers[0].volumeMounts[0].bindMountOptions",
    /noexec, nodev, nosuid/,
  ],
  [
    "an unknown protocol",
    { containers: [container({ livenessProbe: { httpGet: { port: 80, protocol: "" } } })] },
    "spec.containers[0].livenessProbe.httpGet.protocol",
    /HTTP1, HTTP2/,
  ],
  [
    "responders that are no list",
    { containers: [container()], evictionResponders: "me" },
    "spec.evictionResponders",
    /wrong type/,
  ],
];
for (const [what, spec, field, problem] of wrong) {
  test(`${what} is ignored with a warning`, () => {
    const { pod, warnings } = decode(spec);
    assert.equal(warnings.length, 1);
    assert.ok(warnings[0]?.startsWith(`${field}: ignored: a field of Kubernetes 1.37, which refuses the value: `));
    assert.match(warnings[0] ?? "", problem);
    assert.equal(valueAt(pod, field), undefined);
  });
}

test("responders of evictions are kept without a warning: no kubelet reads them", () => {
  const evictionResponders = [{ name: "example.com/mover", priority: 100 }];
  const { pod, warnings } = decode({ containers: [container()], evictionResponders });
  assert.deepEqual([warnings, valueAt(pod, "spec.evictionResponders")], [[], evictionResponders]);
});

test("the UID of the pod does not depend on the fields: the release that began to keep them restarts nothing", () => {
  const options = { image: "busybox:1", httpPort: 80, grpcPort: 81, withReferences: false };
  const full = laterPodSpec(options);
  const plain = JSON.parse(
    JSON.stringify(full, (key, value: unknown) =>
      ["protocol", "bindMountOptions", "defaultUser", "user", "evictionResponders"].includes(key) ||
      (key === "mode" && (typeof value === "number" || value === "TLS"))
        ? undefined
        : value,
    ),
  ) as Json;
  assert.equal(decode(full).pod.metadata.uid, decode(plain).pod.metadata.uid);
});
