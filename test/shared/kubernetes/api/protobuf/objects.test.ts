// Objects of the API in protobuf and in JSON are the same objects, whatever their kind; bytes of a hostile server are
// an error.
// @promise Cluster: An object of each kind is the same object in protobuf and in JSON; fields of a later version come
//   back with a PUT; cut, changed or endless bytes are a broken answer.
// @with test/shared/kubernetes/api/client/decode/frames.test.ts,
//   test/shared/kubernetes/api/client/decode/protobuf-list-cutter.test.ts

import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Decoder } from "../../../../../src/shared/kubernetes/api/protobuf/decode.js";
import {
  decodeInSteps,
  decodeObject,
  encodeObject,
  enveloped,
  versionOf,
} from "../../../../../src/shared/kubernetes/api/protobuf/objects.js";
import { ProtobufDecodeError } from "../../../../../src/shared/kubernetes/api/protobuf/reader.js";
import { POD_SCHEMA } from "../../../../../src/shared/kubernetes/api/protobuf/schema.js";
import { KINDS, objectOf } from "../../../../support/protobuf-objects.js";
import { assertCpuBelow } from "../../../../support/thread-cpu.js";

const POD = { apiVersion: "v1", kind: "Pod" };
const encoded = (object: Record<string, unknown>): Buffer => encodeObject({ ...POD, ...object }) ?? Buffer.alloc(0);

function stepsOf(bytes: Buffer): { object: Record<string, unknown>; steps: number } {
  const decoding = decodeInSteps(bytes);
  for (let steps = 1; ; steps++) {
    const step = decoding.next();
    if (step.done === true) return { object: step.value, steps };
  }
}

for (const [apiVersion, kind, message] of KINDS) {
  test(`a ${kind} is the same object in protobuf and in JSON`, () => {
    fc.assert(
      fc.property(objectOf(message), (fields) => {
        const object = { kind, apiVersion, ...fields };
        const bytes = encodeObject(object);
        ok(bytes, "every field is in the table");
        deepEqual(decodeObject(bytes), JSON.parse(JSON.stringify(object)));
        deepEqual(stepsOf(bytes).object, decodeObject(bytes));
      }),
      { numRuns: 25 },
    );
  });
}

test("an empty value is there exactly where the server's JSON has it", () => {
  // A server written in Go sends "", false and 0 of fields that are no pointers.
  const status = {
    phase: "",
    hostIP: "",
    containerStatuses: [{ name: "", ready: false, restartCount: 0, started: false }],
  };
  const spec = { hostNetwork: false, hostname: "", hostUsers: false, terminationGracePeriodSeconds: 0, priority: 0 };
  deepEqual(decodeObject(encoded({ spec, status })), {
    ...POD,
    spec: { hostUsers: false, terminationGracePeriodSeconds: 0, priority: 0 },
    status: { containerStatuses: status.containerStatuses },
  });
});

test("metadata.managedFields are not decoded", () => {
  const managedFields = [{ manager: "kubectl", operation: "Update", fieldsV1: { "f:spec": {} } }];
  deepEqual(decodeObject(encoded({ metadata: { name: "a", managedFields } }))["metadata"], { name: "a" });
});

test("fields of a later version come back with the object, also below a level that JSON does not have", () => {
  const later = Buffer.from([0xfa, 0x3f, 0x02, 0x68, 0x69]);
  const inSpec = Buffer.from([0x12, later.length, ...later]);
  // Pod.spec.volumes[0].volumeSource: 2, 1, 2
  const source = Buffer.from([0x12, later.length, ...later]);
  const volume = Buffer.from([0x0a, source.length, ...source]);
  const inVolume = Buffer.from([0x12, volume.length, ...volume]);
  for (const part of [later, inSpec, inVolume]) {
    const bytes = enveloped("v1", "Pod", part);
    const read = decodeObject(bytes);
    equal(JSON.stringify(read).includes("hi"), false);
    const { spec } = read as { spec?: Record<string, unknown> };
    const edited = encodeObject({ ...read, ...(spec === undefined ? {} : { spec: { ...spec, hostname: "web" } }) });
    ok(edited?.includes(later), "the bytes are there");
    ok((edited?.length ?? 0) >= bytes.length);
    deepEqual(
      Object.getOwnPropertySymbols(decodeObject(edited ?? Buffer.alloc(0))),
      Object.getOwnPropertySymbols(read),
    );
  }
});

test("an object with a field or a value that the table does not have is left to JSON", () => {
  equal(encodeObject({ ...POD, spec: { later: 1 } }), undefined);
  equal(encodeObject({ ...POD, metadata: { name: 7 } }), undefined);
  equal(encodeObject({ apiVersion: "example.com/v1", kind: "Pod", spec: {} }), undefined);
});

test("a pod of megabytes is decoded in steps, wherever its bytes are, and is the same object", () => {
  const env = (count: number): object[] =>
    Array.from({ length: count }, (_, at) => ({ name: `A${at}`, value: "x".repeat(20) }));
  const containers = Array.from({ length: 10_000 }, (_, at) => ({
    name: `c${at}`,
    image: `registry.example/${at}`,
    env: env(2),
  }));
  const tolerations = Array.from({ length: 30_000 }, (_, at) => ({ key: `k${at}`, operator: "Exists" }));
  const pods = [
    { spec: { containers } },
    { spec: { containers: [{ name: "app", env: env(30_000) }] } },
    { spec: { tolerations } },
    { status: { containerStatuses: containers.map(({ name, image }) => ({ name, image, ready: true })) } },
  ];
  for (const pod of pods) {
    const bytes = encoded(pod);
    const { object, steps } = stepsOf(bytes);
    deepEqual(object, decodeObject(bytes));
    ok(steps > bytes.length / 80_000, `${steps} steps for ${bytes.length} bytes`);
  }
});

test("UID and version are read without the rest of the object", () => {
  const message = encoded({ metadata: { name: "a", uid: "u-1", resourceVersion: "7" } });
  const object = message.subarray(message.indexOf(0x12, 14) + 2);
  deepEqual(versionOf(object), { uid: "u-1", resourceVersion: "7" });
  deepEqual(versionOf(Buffer.alloc(0)), { uid: "", resourceVersion: "" });
});

const POD_BYTES = encoded({
  metadata: { name: "web", labels: { app: "web" }, creationTimestamp: "2026-11-24T10:00:00Z" },
  spec: {
    containers: [{ name: "app", resources: { limits: { cpu: "1" } }, livenessProbe: { tcpSocket: { port: 80 } } }],
  },
});

/** The error, or undefined; any other error fails the test. */
function refusal(bytes: Buffer): ProtobufDecodeError | undefined {
  try {
    decodeObject(bytes);
    return undefined;
  } catch (error) {
    if (error instanceof ProtobufDecodeError) return error;
    throw error;
  }
}

test("an object that is cut anywhere is an error", () => {
  for (let end = 0; end < POD_BYTES.length; end++) ok(refusal(POD_BYTES.subarray(0, end)), `cut at ${end}`);
});

test("changed bytes decode to an object or fail with ProtobufDecodeError, never otherwise", () => {
  const edits = fc.array(fc.tuple(fc.nat(POD_BYTES.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(edits, (list) => {
      const bytes = Buffer.from(POD_BYTES);
      for (const [at, value] of list) bytes[at] = value;
      refusal(bytes);
    }),
    { numRuns: 2000 },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void refusal(enveloped("v1", "Pod", bytes))),
    { numRuns: 2000 },
  );
});

for (const [what, hex] of [
  ["a length beyond the message", "0affffffff0f"],
  ["a length beyond 32 bits", "0affffffffffff0f"],
  ["a number of more than ten bytes", "12053a0380808080808080808080808001"],
  ["a group", "0b0c"],
  ["an unknown group", "fb3f"],
  ["a field of another wire type", "0801"],
  ["a time out of range", "0a0a42080880808080808040"],
] as const) {
  test(`a hostile message is an error: ${what}`, () => {
    throws(() => decodeObject(enveloped("v1", "Pod", Buffer.from(hex, "hex"))), { name: "ProtobufDecodeError" });
  });
}

test("nesting deeper than the table's is an error or unknown bytes, not a deep recursion", () => {
  // Field 2 in field 2 in field 2, …: a spec that nests without end.
  let bytes = Buffer.alloc(0);
  for (let depth = 0; depth < 20_000 && bytes.length < 1 << 20; depth++) {
    const head = [0x12];
    for (let rest = bytes.length; ; rest >>>= 7) {
      head.push(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest);
      if (rest <= 0x7f) break;
    }
    bytes = Buffer.concat([Buffer.from(head), bytes]);
  }
  refusal(enveloped("v1", "Pod", bytes));
});

test("a megabyte of unknown fields is read in linear time, also below a level that JSON does not have", () => {
  const unknown = Buffer.alloc(3 * 350_000, Buffer.from([0xf8, 0x3f, 0x01]));
  const read = (bytes: Buffer): unknown => decodeObject(enveloped("v1", "Pod", bytes));
  // Quadratic work would take minutes.
  assertCpuBelow(2000, () => read(unknown), "unknown fields of a pod");
  const spec = Buffer.from([0x12, 0x03, 0xf8, 0x3f, 0x01]);
  assertCpuBelow(2000, () => read(Buffer.alloc(5 * 200_000, spec)), "unknown fields of many specs");
});

test("JSON inside of a message is read as JSON; other text there is an error", () => {
  const decoder = new Decoder(POD_SCHEMA);
  const entry = (text: string): Buffer => {
    const raw = Buffer.from([0x0a, text.length, ...Buffer.from(text)]);
    return Buffer.from([0x3a, raw.length, ...raw]);
  };
  deepEqual(decoder.decode("ManagedFieldsEntry", entry('{"f:a":{}}')), { fieldsV1: { "f:a": {} } });
  throws(() => decoder.decode("ManagedFieldsEntry", entry("{")), { name: "ProtobufDecodeError" });
});

test("an object of another kind than the kubelet's is an error", () => {
  throws(() => decodeObject(enveloped("example.com/v1", "Pod", Buffer.alloc(0))), { name: "ProtobufDecodeError" });
  throws(() => decodeObject(Buffer.from('{"kind":"Pod"}')), { name: "ProtobufDecodeError" });
});
