// Integers of 64 bits beyond 2^53 in objects of the node's own API: each text that a client or a person reads has the
// digits that were written.

import { equal, match } from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { encodeMessage, enveloped } from "../../../src/shared/kubernetes/api/protobuf/objects.js";
import { resourceNamed, RESOURCES } from "../../../src/workers/apiserver/objects/resources.js";
import { nodeDisk } from "../../../src/workers/apiserver/store/disk.js";
import { Store } from "../../../src/workers/apiserver/store/store.js";
import { temporaryFolder } from "../../support/sources-kit.js";
import { ApiPort, type Reply } from "./api-port-kit.js";

const PODS = "/api/v1/namespaces/default/pods";
const MAX = "9223372036854775807";
const MERGE = { "content-type": "application/merge-patch+json" };
const STRATEGIC = { "content-type": "application/strategic-merge-patch+json" };
const APPLY = { "content-type": "application/apply-patch+yaml" };
const NONE = { "content-type": "application/json" };

const pod = (name: string): string =>
  `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"${name}"},"spec":{"terminationGracePeriodSeconds":${MAX},` +
  `"tolerations":[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":-${MAX}}],` +
  `"containers":[{"name":"c","image":"i"}]}}`;

describe("an integer beyond 2^53", () => {
  let api: ApiPort;
  let admin: { cert: string; key: string };
  const ask = (
    method: string,
    path: string,
    body?: string | Uint8Array,
    headers: Record<string, string> = NONE,
  ): Promise<Reply> => api.ask(admin, method, path, body, headers);
  const hasDigits = ({ status, text }: Reply, expected = 200): void => {
    equal(status, expected, text);
    match(text, new RegExp(`"terminationGracePeriodSeconds": ?${MAX}[,}]`));
    match(text, new RegExp(`"tolerationSeconds": ?-${MAX}[,}]`));
  };

  before(async () => {
    api = await ApiPort.open();
    admin = await api.client("admin");
    hasDigits(await ask("POST", PODS, pod("a")), 201);
  });
  after(async () => {
    await api[Symbol.asyncDispose]();
  });

  test("is in the object, in lists and in watches with its digits", async () => {
    hasDigits(await ask("GET", `${PODS}/a`));
    hasDigits(await ask("GET", PODS));
    hasDigits(await ask("GET", `${PODS}?watch=1&timeoutSeconds=1`));
    hasDigits(await ask("POST", `${PODS}?dryRun=All`, pod("dry")), 201);
  });

  test("stays through patches of other fields, and is no change when it is written again", async () => {
    hasDigits(await ask("PATCH", `${PODS}/a`, '{"metadata":{"labels":{"b":"1"}}}', MERGE));
    hasDigits(await ask("PATCH", `${PODS}/a`, '{"metadata":{"labels":{"c":"1"}}}', STRATEGIC));
    const { text } = await ask("GET", `${PODS}/a`);
    const again = await ask("PUT", `${PODS}/a`, text);
    hasDigits(again);
    equal(again.text, text);
    hasDigits(await ask("PATCH", `${PODS}/a`, `{"spec":{"terminationGracePeriodSeconds":${MAX}}}`, MERGE));
  });

  test("stays through server-side apply of YAML", async () => {
    hasDigits(await ask("PATCH", `${PODS}/b?fieldManager=me`, pod("b"), APPLY), 201);
    hasDigits(await ask("PATCH", `${PODS}/b?fieldManager=me`, pod("b"), APPLY));
  });

  test("of a body in protobuf is in the object", async () => {
    // Numbers of PodSpec's and Toleration's fields in k8s.io/api.
    const toleration = new BinaryWriter();
    toleration.tag(2, WireType.LengthDelimited).string("Exists");
    toleration.tag(1, WireType.LengthDelimited).string("a").tag(4, WireType.LengthDelimited).string("NoExecute");
    toleration.tag(5, WireType.Varint).int64(-BigInt(MAX));
    const more = new BinaryWriter();
    more.tag(4, WireType.Varint).int64(BigInt(MAX));
    more.tag(22, WireType.LengthDelimited).bytes(toleration.finish());
    const containers = encodeMessage("PodSpec", { containers: [{ name: "c", image: "i" }] });
    const whole = new BinaryWriter();
    whole.raw(encodeMessage("Pod", { metadata: { name: "p" } }));
    whole.tag(2, WireType.LengthDelimited).bytes(Buffer.concat([containers, more.finish()]));
    const body = enveloped("v1", "Pod", whole.finish());
    const type = { "content-type": "application/vnd.kubernetes.protobuf" };
    hasDigits(await ask("POST", PODS, body, type), 201);
    hasDigits(await ask("GET", `${PODS}/p`));
  });

  test("that differs in its last digits only is another value", async () => {
    const other = `{"spec":{"terminationGracePeriodSeconds":${MAX.replace(/7$/, "6")}}}`;
    equal((await ask("PATCH", `${PODS}/a`, other, MERGE)).status, 422);
  });

  test("of more than 64 bits is refused", async () => {
    const { status, text } = await ask("POST", PODS, pod("wide").replace(MAX, "9223372036854775808"));
    equal(status, 400, text);
    match(text, /cannot unmarshal number into Go struct field/);
  });

  test("is in the log of changes and in the file that people read, and there after a start", async (t) => {
    const directory = await temporaryFolder(t);
    const open = (): Promise<Store> =>
      Store.open({
        ...{ directory, resources: RESOURCES, log: { warn: () => undefined }, disk: nodeDisk, maxLogBytes: 1e9 },
      });
    const lease = resourceNamed("leases.coordination.k8s.io");
    const object = {
      ...{ apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "a", namespace: "default" } },
      spec: { leaseTransitions: BigInt(MAX) },
    };
    const first = await open();
    await first.change((tx) => tx.put(lease, object));
    // The first one is not closed: what it wrote to the log is all that there is.
    const second = await open();
    equal(second.get(lease, "default/a")?.spec?.["leaseTransitions"], BigInt(MAX));
    await second.close();
    const [name = ""] = (await readdir(directory, { recursive: true })).filter((path) => path.endsWith("a.json"));
    match(await readFile(join(directory, name), "utf8"), new RegExp(`"leaseTransitions": ${MAX}\n`));
    const third = await open();
    equal(third.get(lease, "default/a")?.spec?.["leaseTransitions"], BigInt(MAX));
    await third.close();
    await first.close().catch(() => undefined);
  });

  test("is a grace period that a deletion shows as the nearest number", async () => {
    const { status, text } = await ask("DELETE", `${PODS}/b`);
    equal(status, 200);
    match(text, /"deletionGracePeriodSeconds":9007199254740991[,}]/);
  });
});
