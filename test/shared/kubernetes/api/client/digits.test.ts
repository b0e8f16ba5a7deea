// Integers of 64 bits in objects of the API server: each way in which the client reads an object keeps their digits,
// and what it sends has them.

import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { PODS } from "../../../../../src/shared/kubernetes/api/client/kinds.js";
import type { Pod } from "../../../../../src/shared/kubernetes/api/pod.js";
import { encodeMessage, enveloped } from "../../../../../src/shared/kubernetes/api/protobuf/objects.js";
import { digitsOf, withDigits } from "../../../../../src/shared/kubernetes/api/wide-integers.js";
import type { Answer } from "../../../../support/api-server.js";
import { startRig, type Rig } from "./client-kit.js";

const SAFE = Number.MAX_SAFE_INTEGER;
const GRACE = "9223372036854775807";
const SECONDS = "-9007199254740993";
const POD = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"1"},"spec":{"containers":[],"terminationGracePeriodSeconds":${GRACE},"tolerations":[{"tolerationSeconds":${SECONDS}}]}}`;
const DIGITS = [
  { path: ["spec", "terminationGracePeriodSeconds"], digits: GRACE },
  { path: ["spec", "tolerations", 0, "tolerationSeconds"], digits: SECONDS },
];
const SPEC = { containers: [], terminationGracePeriodSeconds: SAFE, tolerations: [{ tolerationSeconds: -SAFE }] };

const json =
  (text: string): Answer =>
  (_seen, response) => {
    response.setHeader("content-type", "application/json");
    response.end(text);
  };

/** The pod as each call gives it. */
const READS: readonly (readonly [call: string, text: string, read: (rig: Rig) => Promise<Pod | undefined>])[] = [
  ["get", POD, ({ client }) => client.get(PODS, { namespace: "ns", name: "a" })],
  [
    "list",
    `{"kind":"PodList","metadata":{},"items":[${POD}]}`,
    async ({ client }) => (await client.list(PODS)).items[0],
  ],
  ["watch", `{"type":"ADDED","object":${POD}}\n`, watched],
  ["a response to a patch", POD, ({ client }) => client.patch(PODS, { namespace: "ns", name: "a" }, {})],
];

async function watched({ client }: Rig): Promise<Pod | undefined> {
  for await (const event of client.watch(PODS, { resourceVersion: "0", signal: new AbortController().signal })) {
    if (event.type === "ADDED") return event.object;
  }
  return undefined;
}

describe("an object of the API server", () => {
  for (const [call, text, read] of READS) {
    test(`${call} has the nearest safe numbers, and the digits beside them`, async () => {
      await using rig = await startRig({ answer: json(text) });
      const pod = await read(rig);
      deepEqual(JSON.parse(JSON.stringify(pod?.spec)), SPEC);
      deepEqual(digitsOf(pod), DIGITS);
    });
  }

  test("without wide integers, or with long digits in texts only, it has nothing beside it", async () => {
    const text = `{"metadata":{"name":"a","labels":{"sum":"${GRACE}"}},"spec":{"containers":[]}}`;
    await using rig = await startRig({ answer: json(text) });
    const pod = await rig.client.get(PODS, { namespace: "ns", name: "a" });
    deepEqual(Object.getOwnPropertySymbols(pod), []);
  });

  test("no text brings digits along", async () => {
    await using rig = await startRig({
      answer: json(`{"metadata":{"name":"a"},"wideIntegers":[{"path":[],"digits":"x"}]}`),
    });
    equal(digitsOf(await rig.client.get(PODS, { namespace: "ns", name: "a" })), undefined);
  });

  test("in protobuf it has them as in JSON", async () => {
    const spec = Buffer.concat([
      // spec.terminationGracePeriodSeconds (4), spec.tolerations (22) with tolerationSeconds (5)
      Buffer.from([0x20, ...varint(BigInt(GRACE))]),
      field(22, Buffer.from([0x28, ...varint(BigInt.asUintN(64, BigInt(SECONDS)))])),
    ]);
    const pod = Buffer.concat([field(1, Buffer.from(encodeMessage("ObjectMeta", { name: "a" }))), field(2, spec)]);
    const type = "application/vnd.kubernetes.protobuf";
    const answer: Answer = (_seen, response) => {
      response.setHeader("content-type", type);
      response.end(enveloped("v1", "Pod", pod));
    };
    await using rig = await startRig({ answer, config: { contentType: type } });
    const read = await rig.client.get(PODS, { namespace: "ns", name: "a" });
    deepEqual(read.spec.terminationGracePeriodSeconds, SAFE);
    deepEqual(digitsOf(read), DIGITS);
  });

  for (const contentType of [undefined, "application/vnd.kubernetes.protobuf"]) {
    test(`its digits are sent with it, also where bodies are ${contentType ?? "JSON"}`, async () => {
      await using rig = await startRig({
        answer: json("{}"),
        config: contentType === undefined ? {} : { contentType },
      });
      const pod = withDigits({ metadata: { name: "a", namespace: "ns" }, spec: SPEC } as unknown as Pod, DIGITS);
      await rig.client.create(PODS, pod);
      await rig.client.update(PODS, { ...pod, metadata: { ...pod.metadata } });
      for (const { body } of rig.server.seen) {
        equal(body.includes(`"terminationGracePeriodSeconds":${GRACE},`), true, body);
        equal(body.includes(`"tolerationSeconds":${SECONDS}}`), true, body);
      }
    });
  }
});

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return [...bytes, Number(rest)];
}

function field(number: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([...varint(BigInt((number << 3) | 2)), ...varint(BigInt(bytes.length))]), bytes]);
}
