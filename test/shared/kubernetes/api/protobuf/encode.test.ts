// Pods in Kubernetes' protobuf encoding.

import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { encode } from "../../../../../src/shared/kubernetes/api/protobuf/encode.js";
import { CLUSTER_MESSAGES } from "../../../../../src/shared/kubernetes/api/protobuf/gen/cluster-messages.js";
import { MESSAGES } from "../../../../../src/shared/kubernetes/api/protobuf/gen/messages.js";
import { decode } from "../../../../support/protobuf-decode.js";

const POD = {
  metadata: {
    name: "web",
    namespace: "default",
    uid: "u-1",
    labels: { app: "web", tier: "" },
    creationTimestamp: "2026-11-24T10:00:00Z",
    ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n1", uid: "n1", controller: true }],
  },
  spec: {
    hostUsers: false,
    terminationGracePeriodSeconds: 0,
    restartPolicy: "Always",
    nodeName: "n1",
    securityContext: { runAsUser: 0, fsGroup: 2000, sysctls: [{ name: "a", value: "b" }] },
    tolerations: [{ key: "k", operator: "Exists", tolerationSeconds: 300 }],
    volumes: [
      { name: "tmp", emptyDir: {} },
      { name: "cfg", configMap: { name: "cm", items: [{ key: "a", path: "b" }], defaultMode: 420 } },
    ],
    containers: [
      {
        name: "app",
        image: "busybox",
        command: ["sh", "-c", "true"],
        args: [],
        resources: { requests: { cpu: "500m", memory: 64 }, limits: { cpu: 1 } },
        env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "cm", key: "k", optional: false } } }],
        livenessProbe: { httpGet: { path: "/", port: "http" }, periodSeconds: 5 },
        readinessProbe: { tcpSocket: { port: 80 } },
        volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
      },
    ],
    ephemeralContainers: [{ name: "dbg", image: "busybox", targetContainerName: "app" }],
  },
  status: {
    phase: "Running",
    podIP: "10.0.0.1",
    startTime: "2026-11-24T10:00:01Z",
    conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-11-24T10:00:02Z" }],
    containerStatuses: [
      {
        name: "app",
        ready: true,
        restartCount: 0,
        image: "busybox",
        imageID: "",
        state: { terminated: { exitCode: -1, startedAt: "2026-11-24T10:00:02Z" } },
        lastState: {},
      },
    ],
  },
};

/** Bytes that buf, with the public definitions of 1.36, reads as the pod above. */
const BYTES = [
  "CkkKA3dlYhoHZGVmYXVsdCoDdS0xQggIoMCV2AYQAFoKCgNhcHASA3dlYloICgR0aWVyEgBqFAoETm9kZRoCbjEiAm4xKgJ2MTABEv8BCgkKA3",
  "RtcBICEgAKGwoDY2ZnEhSaAREKBAoCY20SBgoBYRIBYhikAxKLAQoDYXBwEgdidXN5Ym94GgJzaBoCLWMaBHRydWU6EgoBQRoNGgsKBAoCY20S",
  "AWsYAEIrCgoKA2NwdRIDCgExEg0KA2NwdRIGCgQ1MDBtEg4KBm1lbW9yeRIECgI2NEoLCgN0bXAaBC90bXBSEwoPEg0KAS8SCAgBGgRodHRwIA",
  "VaCgoIGgYKBAgAEFAaBkFsd2F5cyAAUgJuMXINEAAo0A86BgoBYRIBYrIBDgoBaxIGRXhpc3RzKKwCkgIVCg4KA2RiZxIHYnVzeWJveBIDYXBw",
  "qAIAGmcKB1J1bm5pbmcSFwoFUmVhZHkSBFRydWUiCAiiwJXYBhAAMggxMC4wLjAuMToICKHAldgGEABCLwoDYXBwEhcaFQj///////////8BKg",
  "gIosCV2AYQABoAIAEoADIHYnVzeWJveDoA",
];

test("a pod has the bytes that the public definitions give it", () => {
  equal(Buffer.from(encode("Pod", POD)).toString("base64"), BYTES.join(""));
});

test("zero, false and empty messages are kept, absent fields and fields that JSON has with null are not", () => {
  const { spec } = decode("Pod", encode("Pod", { spec: { hostUsers: false, nodeName: null, securityContext: {} } }));
  deepEqual(spec, { hostUsers: false, securityContext: {} });
});

test("a field that the table does not have is left out", () => {
  deepEqual(decode("Pod", encode("Pod", { metadata: { name: "a" }, later: { x: 1 } })), { metadata: { name: "a" } });
});

for (const [what, object, message] of [
  ["a number for a string", { metadata: { name: 7 } }, "Pod.metadata.name: 7 is not a string"],
  ["a string for a bool", { spec: { hostNetwork: "yes" } }, 'Pod.spec.hostNetwork: "yes" is not a bool'],
  ["a fraction", { spec: { priority: 1.5 } }, "Pod.spec.priority: 1.5 is not an integer"],
  ["an object for a list", { spec: { containers: {} } }, "Pod.spec.containers: {} is not a list"],
  ["a list for an object", { spec: [] }, "Pod.spec: [] is not an object"],
  [
    "no time",
    { metadata: { creationTimestamp: "soon" } },
    'Pod.metadata.creationTimestamp: "soon" is not a time (RFC 3339)',
  ],
] as const) {
  test(`a value of another type is an error that names its field: ${what}`, () => {
    throws(() => encode("Pod", object), { name: "ProtobufEncodeError", message });
  });
}

test("each type of the table is one of the table, and no number is there twice", () => {
  const plain = new Set(["s", "b", "i", "y"]);
  const all = { ...MESSAGES, ...CLUSTER_MESSAGES };
  equal(Object.keys(all).length, Object.keys(MESSAGES).length + Object.keys(CLUSTER_MESSAGES).length);
  for (const [message, text] of Object.entries(all)) {
    const fields = text === "" ? [] : text.split(", ").map((field) => field.split(" "));
    equal(new Set(fields.map(([number]) => number)).size, fields.length, message);
    for (const [, name, type = ""] of fields) {
      const bare = type.replace(/^[*%.]|[?]$/g, "");
      equal(plain.has(bare) || bare in all, true, `${message}.${name ?? ""}: ${type}`);
    }
  }
});
