// Behaviour of an API server that the kubelet depends on: objects, versions, errors, patches. The same tests run
// against the fixture and a real server, so that neither is trusted alone.
// @promise Cluster: The API server made for tests behaves as a real one.
// @with test/cluster/api-contract-access.test.ts, test/cluster/api-contract-pod-certificates.test.ts,
//   test/cluster/api-contract-pods.test.ts, test/cluster/api-contract-watch.test.ts

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ApiRefusal, pathOf, type ApiKit, type ApiObject } from "../support/api-kit.js";
import { Cluster } from "../support/cluster.js";

let cluster: Cluster;
let kit: ApiKit;
let namespace: string;
before(async () => {
  cluster = await Cluster.start();
  ({ kit, namespace } = cluster);
});
after(async () => cluster[Symbol.asyncDispose]());

const MAP = "configmaps";

function map(name: string, data: Record<string, string> = { a: "1" }): Promise<ApiObject> {
  return kit.create(MAP, { metadata: { name, namespace }, data });
}

/** The refusal of a call that must be refused. */
async function refusalOf(call: Promise<unknown>): Promise<ApiRefusal> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ApiRefusal) return error;
    throw error;
  }
  throw new assert.AssertionError({ message: "the call was not refused" });
}

describe("objects", () => {
  it("a new one gets uid, version and creation time of the server's choosing", async () => {
    const mine = { name: "new", namespace, uid: "mine", creationTimestamp: "2001-01-01T00:00:00Z" };
    const { metadata } = await kit.create(MAP, { metadata: mine, data: {} });
    assert.match(metadata.uid ?? "", /^[0-9a-f-]{36}$/);
    assert.match(metadata.creationTimestamp ?? "", /^20(?!01)\d\d-.*:\d\dZ$/);
    assert.match(metadata.resourceVersion ?? "", /^\d+$/);
  });

  it("generateName is completed with five letters", async () => {
    const { metadata } = await kit.create(MAP, { metadata: { generateName: "gen-", namespace } });
    assert.match(metadata.name, /^gen-[a-z0-9]{5}$/);
  });

  it("a name is taken once: AlreadyExists", async () => {
    await map("twice");
    const { code, status } = await refusalOf(map("twice"));
    assert.equal(code, 409);
    assert.equal(status["reason"], "AlreadyExists");
    assert.equal(status["message"], 'configmaps "twice" already exists');
    assert.deepEqual(status["details"], { name: "twice", kind: "configmaps" });
  });

  it("the annotation of mount options is refused for a local volume, as for all but network volumes and cloud disks", async () => {
    const annotations = { "volume.beta.kubernetes.io/mount-options": "nosuid" };
    const here = { key: "metadata.name", operator: "In", values: ["here"] };
    const common = { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Mi" } };
    const nodeAffinity = { required: { nodeSelectorTerms: [{ matchFields: [here] }] } };
    const spec = { ...common, nodeAffinity, local: { path: "/disk" } };
    const name = `${namespace}-annotated`;
    const { code, status } = await refusalOf(
      kit.create("persistentvolumes", { metadata: { name, annotations }, spec }),
    );
    assert.equal(code, 422);
    assert.match(String(status["message"]), /may not specify mount options for this volume type/);
    const nfs = { server: "10.0.0.1", path: "/export" };
    await kit.create("persistentvolumes", { metadata: { name, annotations }, spec: { ...common, nfs } });
    await kit.delete("persistentvolumes", "", name);
  });

  it("a missing object is NotFound, with the name in the details", async () => {
    const { code, status } = await refusalOf(kit.get(MAP, namespace, "none"));
    assert.equal(code, 404);
    assert.deepEqual(status, {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: 'configmaps "none" not found',
      reason: "NotFound",
      details: { name: "none", kind: "configmaps" },
      code: 404,
    });
  });

  it("nothing is made in a namespace that is not there", async () => {
    const { code, message } = await refusalOf(kit.create(MAP, { metadata: { name: "x", namespace: "no-such" } }));
    assert.equal(code, 404);
    assert.match(message, /namespaces "no-such" not found/);
  });

  it("a bad name is Invalid and names the field", async () => {
    const { code, status } = await refusalOf(map("Not_A_Name"));
    assert.equal(code, 422);
    const [cause] = (status["details"] as { causes: { field: string; reason: string }[] }).causes;
    assert.deepEqual([cause?.field, cause?.reason], ["metadata.name", "FieldValueInvalid"]);
  });

  it("a dry run keeps no object", async () => {
    await kit.create(MAP, { metadata: { name: "dry", namespace } }, { query: { dryRun: "All" } });
    assert.equal(await kit.find(MAP, namespace, "dry"), undefined);
  });

  it("resources, methods and media types that are not served are refused as such", async () => {
    const maps = pathOf(MAP, namespace);
    const rows: [string, string, number, string | undefined][] = [
      ["GET", "/api/v1/nonsense", 404, "NotFound"],
      ["GET", "/apis/no.such.group/v1/things", 404, undefined],
      ["PUT", maps, 405, "MethodNotAllowed"],
      ["POST", `${maps}/x`, 405, "MethodNotAllowed"],
      ["POST", "/api/v1/configmaps", 405, "MethodNotAllowed"],
    ];
    for (const [method, path, code, reason] of rows) {
      const answer = await kit.raw(method, path, method === "GET" ? {} : { body: {} });
      assert.equal(answer.code, code, `${method} ${path}`);
      assert.equal((answer.body as { reason?: string }).reason, reason, `${method} ${path}`);
    }
    assert.equal((await kit.raw("POST", maps, { body: "x", contentType: "text/plain" })).code, 415);
    assert.equal((await kit.raw("GET", maps, { headers: { accept: "text/html" } })).code, 406);
  });
});

describe("versions", () => {
  it("a change with an old version is a Conflict", async () => {
    const old = await map("conflict");
    await kit.update(MAP, { ...old, data: { a: "2" } });
    const { code, status } = await refusalOf(kit.update(MAP, { ...old, data: { a: "3" } }));
    assert.equal(code, 409);
    assert.equal(status["reason"], "Conflict");
    const message = "the object has been modified; please apply your changes to the latest version and try again";
    assert.equal(status["message"], `Operation cannot be fulfilled on configmaps "conflict": ${message}`);
  });

  it("so is a patch that names an old version, and a PUT that names another uid", async () => {
    const old = await map("conflict-2");
    const patch = { metadata: { resourceVersion: "1" }, data: { a: "2" } };
    assert.equal((await refusalOf(kit.patch(MAP, namespace, "conflict-2", patch, { type: "merge" }))).code, 409);
    const other = { ...old, metadata: { ...old.metadata, uid: "0-0", resourceVersion: "" } };
    const { code, message } = await refusalOf(kit.update(MAP, other));
    assert.equal(code, 409);
    assert.match(message, /Precondition failed: UID in precondition: 0-0, UID in object meta:/);
  });

  it("a PUT without a version overwrites", async () => {
    const old = await map("overwrite");
    await kit.update(MAP, { ...old, data: { a: "2" } });
    const metadata = { ...old.metadata, resourceVersion: "" };
    assert.deepEqual((await kit.update(MAP, { ...old, metadata, data: { a: "3" } }))["data"], { a: "3" });
  });

  it("a change that changes nothing keeps the version", async () => {
    const old = await map("same");
    const put = await kit.update(MAP, old);
    const patched = await kit.patch(MAP, namespace, "same", { data: { a: "1" } }, { type: "merge" });
    assert.equal(put.metadata.resourceVersion, old.metadata.resourceVersion);
    assert.equal(patched.metadata.resourceVersion, old.metadata.resourceVersion);
  });

  it("immutable config maps stay as they are", async () => {
    await kit.create(MAP, { metadata: { name: "fixed", namespace }, data: { a: "1" }, immutable: true });
    const { code, status } = await refusalOf(
      kit.patch(MAP, namespace, "fixed", { data: { a: "2" } }, { type: "merge" }),
    );
    assert.equal(code, 422);
    assert.match(String(status["message"]), /data: Forbidden: field is immutable when `immutable` is set/);
  });

  it("an object with finalizers stays until the last one is removed", async () => {
    await kit.create(MAP, { metadata: { name: "held", namespace, finalizers: ["suite/one"] } });
    const marked = await kit.delete(MAP, namespace, "held");
    assert.ok(marked.metadata.deletionTimestamp !== undefined);
    assert.ok((await kit.find(MAP, namespace, "held")) !== undefined);
    const more = { metadata: { finalizers: ["suite/one", "suite/two"] } };
    assert.equal((await refusalOf(kit.patch(MAP, namespace, "held", more, { type: "merge" }))).code, 422);
    await kit.patch(MAP, namespace, "held", { metadata: { finalizers: null } }, { type: "merge" });
    assert.equal(await kit.find(MAP, namespace, "held"), undefined);
  });

  it("the response for a deleted object is a Status with its uid", async () => {
    const { metadata } = await map("deleted");
    const answer = await kit.delete(MAP, namespace, "deleted");
    assert.deepEqual(answer, {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name: "deleted", kind: "configmaps", uid: metadata.uid },
    });
    assert.equal((await refusalOf(kit.delete(MAP, namespace, "deleted"))).code, 404);
  });
});

describe("patches", () => {
  it("a JSON patch tests before it writes", async () => {
    await map("json");
    const at = (value: string): unknown => [
      { op: "test", path: "/data/a", value },
      { op: "add", path: "/data/b", value: "2" },
    ];
    const { code, status } = await refusalOf(kit.patch(MAP, namespace, "json", at("9"), { type: "json" }));
    assert.equal(code, 422);
    assert.equal(status["reason"], "Invalid");
    assert.deepEqual((await kit.patch(MAP, namespace, "json", at("1"), { type: "json" }))["data"], { a: "1", b: "2" });
  });

  it("a merge patch removes fields that are null", async () => {
    await map("merge", { a: "1", b: "2" });
    const patched = await kit.patch(MAP, namespace, "merge", { data: { a: null, c: "3" } }, { type: "merge" });
    assert.deepEqual(patched["data"], { b: "2", c: "3" });
  });

  it("a patch in another media type is 415", async () => {
    const answer = await kit.raw("PATCH", pathOf(MAP, namespace, "merge"), {
      body: {},
      contentType: "application/json",
    });
    assert.equal(answer.code, 415);
  });

  it("a strategic merge joins conditions by type, in the requested order", async () => {
    await cluster.pod("strategic");
    const types = async (patch: unknown): Promise<string[]> => {
      const pod = await kit.patch("pods", namespace, "strategic", { status: patch }, { subresource: "status" });
      return (pod.status?.["conditions"] as { type: string; status: string }[]).map(
        ({ type, status }) => `${type}=${status}`,
      );
    };
    const condition = (type: string, status = "True"): unknown => ({ type, status });
    assert.deepEqual(await types({ conditions: [condition("A"), condition("B")] }), ["A=True", "B=True"]);
    assert.deepEqual(await types({ conditions: [condition("B", "False"), condition("C")] }), [
      "A=True",
      "B=False",
      "C=True",
    ]);
    const order = { "$setElementOrder/conditions": [{ type: "D" }, { type: "C" }, { type: "B" }] };
    const ordered = await types({ ...order, conditions: [condition("D"), condition("B")] });
    assert.deepEqual(ordered, ["D=True", "A=True", "C=True", "B=True"]);
    assert.deepEqual(await types({ conditions: [{ type: "A", $patch: "delete" }] }), ["D=True", "C=True", "B=True"]);
    assert.deepEqual(await types({ conditions: [{ $patch: "replace" }, condition("Z")] }), ["Z=True"]);
  });

  it("lists without a merge key are replaced: container statuses", async () => {
    const statuses = (name: string): unknown => [
      { name, image: "i", imageID: "", ready: false, restartCount: 0, state: { waiting: { reason: "R" } } },
    ];
    const set = (name: string): Promise<ApiObject> =>
      kit.patch(
        "pods",
        namespace,
        "strategic",
        { status: { containerStatuses: statuses(name) } },
        { subresource: "status" },
      );
    await set("one");
    const held = (await set("two")).status?.["containerStatuses"] as { name: string }[];
    assert.deepEqual(
      held.map(({ name }) => name),
      ["two"],
    );
  });

  it("podIPs are merged by ip, and podIP is the first of them", async () => {
    const set = async (status: unknown): Promise<unknown[]> => {
      const pod = await kit.patch("pods", namespace, "strategic", { status }, { subresource: "status" });
      return [pod.status?.["podIP"], pod.status?.["podIPs"]];
    };
    assert.deepEqual(await set({ podIP: "10.1.0.1", podIPs: [{ ip: "10.1.0.1" }] }), [
      "10.1.0.1",
      [{ ip: "10.1.0.1" }],
    ]);
    const renewed = { podIP: "10.1.0.2", podIPs: [{ ip: "10.1.0.2" }, { ip: "10.1.0.1", $patch: "delete" }] };
    assert.deepEqual(await set(renewed), ["10.1.0.2", [{ ip: "10.1.0.2" }]]);
  });
});
