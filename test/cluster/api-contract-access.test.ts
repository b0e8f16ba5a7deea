// Rights in the API that the kubelet depends on: credentials, the Node authorizer, NodeRestriction, tokens and reviews,
// leases, events, certificates.

import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { waitFor } from "../../tools/standalone/wait.js";
import { makeSigningRequest } from "../fake-api/certificates/signing-request.js";
import { ApiRefusal, type ApiKit, type ApiObject, type Fields } from "../support/api-kit.js";
import { Cluster, podOf } from "../support/cluster.js";

const LEASES = "kube-node-lease";

let cluster: Cluster;
let kit: ApiKit;
let agent: ApiKit;
let namespace: string;
let node: string;
let nodeObject: ApiObject;
/** On the node; it refers to the secret "mine". */
let pod: ApiObject;
before(async () => {
  cluster = await Cluster.start();
  ({ kit, namespace } = cluster);
  node = `${namespace}-node`;
  agent = await cluster.nodeKit(node);
  nodeObject = await agent.create("nodes", { metadata: { name: node, labels: { "kubernetes.io/hostname": node } } });
  cluster.willDelete("nodes", "", node);
  cluster.willDelete("leases", LEASES, node);
  for (const name of ["mine", "others"]) await kit.create("secrets", { metadata: { name, namespace } });
  const volumes = [
    { name: "s", secret: { secretName: "mine" } },
    { name: "t", projected: { sources: [{ serviceAccountToken: { path: "t", audience: "vault" } }] } },
  ];
  pod = await cluster.pod("bound", { nodeName: node, volumes });
  await cluster.pod("elsewhere");
  // The authorizer's graph follows the pods a moment later.
  await waitFor(async () => (await agent.raw("GET", `/api/v1/namespaces/${namespace}/secrets/mine`)).code === 200, {
    what: "the agent to be let at its pod's secret",
    intervalMs: 100,
  });
});
after(async () => {
  agent.close();
  await cluster[Symbol.asyncDispose]();
});

async function forbidden(call: Promise<unknown>, message: RegExp): Promise<void> {
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof ApiRefusal, String(error));
    assert.equal(error.code, 403, error.message);
    assert.equal(error.reason, "Forbidden");
    assert.match(String(error.status["message"]), message);
    return true;
  });
}

const tokenRequest = (spec: Fields): Fields => ({ kind: "TokenRequest", apiVersion: "authentication.k8s.io/v1", spec });
const boundTo = (object: ApiObject, uid = object.metadata.uid): Fields => ({
  boundObjectRef: { kind: "Pod", apiVersion: "v1", name: object.metadata.name, uid },
});
const token = async (client: ApiKit, spec: Fields): Promise<string> => {
  const answer = await client.act("serviceaccounts", namespace, "default", "token", tokenRequest(spec));
  return (answer["status"] as { token: string }).token;
};

describe("credentials", () => {
  it("none at all are anonymous: health, but no pods", async () => {
    using anonymous = kit.as({});
    assert.equal((await anonymous.raw("GET", "/healthz")).body, "ok");
    await forbidden(
      anonymous.list("pods", ""),
      /User "system:anonymous" cannot list resource "pods" in API group "" at the cluster scope/,
    );
  });

  it("that are wrong are Unauthorized, not anonymous", async () => {
    using stranger = kit.as({ token: "nonsense" });
    const { code, body } = await stranger.raw("GET", "/healthz");
    assert.equal(code, 401);
    assert.equal((body as { reason: string }).reason, "Unauthorized");
  });

  it("of a service account are known by its name and groups", async () => {
    using account = kit.as({ token: await token(kit, boundTo(pod)) });
    const review = { kind: "SelfSubjectReview", apiVersion: "authentication.k8s.io/v1" };
    const { body } = await account.raw("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", { body: review });
    const { userInfo } = (body as { status: { userInfo: { username: string; groups: string[]; extra: Fields } } })
      .status;
    assert.equal(userInfo.username, `system:serviceaccount:${namespace}:default`);
    assert.ok(userInfo.groups.includes(`system:serviceaccounts:${namespace}`));
    assert.deepEqual(userInfo.extra["authentication.kubernetes.io/pod-name"], ["bound"]);
  });
});

describe("a kubelet and nodes", () => {
  it("reads and changes its own, not others", async () => {
    assert.equal((await agent.get("nodes", "", node)).metadata.uid, nodeObject.metadata.uid);
    await forbidden(agent.get("nodes", "", "other"), /node '.*' cannot read 'other', only its own Node object/);
    await forbidden(agent.list("nodes", ""), /cannot read all nodes, only its own Node object/);
    assert.equal((await agent.list("nodes", "", { fieldSelector: `metadata.name=${node}` })).items.length, 1);
    const other = agent.create("nodes", { metadata: { name: `${node}-2` } });
    await forbidden(other, /is not allowed to modify node "/);
    await forbidden(agent.delete("nodes", "", node), /cannot delete resource "nodes"/);
  });

  it("a new one is not ready, and is shown with all fields of its status", () => {
    const taints = nodeObject.spec?.["taints"] as Fields[];
    assert.deepEqual(taints, [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }]);
    assert.equal(Object.keys(nodeObject.status?.["nodeInfo"] as Fields).length, 10);
  });

  it("its status is merged by type of condition and address", async () => {
    const set = (status: Fields): Promise<ApiObject> =>
      agent.patch("nodes", "", node, { status }, { subresource: "status" });
    await set({ conditions: [{ type: "Ready", status: "False" }], addresses: [{ type: "Hostname", address: "h" }] });
    const { status } = await set({
      conditions: [{ type: "MemoryPressure", status: "False" }],
      addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
    });
    const types = (field: string): string[] => (status?.[field] as { type: string }[]).map(({ type }) => type).sort();
    assert.deepEqual(types("conditions"), ["MemoryPressure", "Ready"]);
    assert.deepEqual(types("addresses"), ["Hostname", "InternalIP"]);
  });

  it("may label it, but not with the labels that steer pods, and not taint it", async () => {
    const label = (labels: Fields): Promise<ApiObject> => agent.patch("nodes", "", node, { metadata: { labels } });
    await label({ free: "yes", "node.kubernetes.io/own": "yes" });
    const message = /is not allowed to modify labels: foo\.kubernetes\.io\/x, node-restriction\.kubernetes\.io\/y/;
    await forbidden(label({ "foo.kubernetes.io/x": "1", "node-restriction.kubernetes.io/y": "1" }), message);
    const taints = agent.patch("nodes", "", node, { spec: { taints: [{ key: "mine", effect: "NoSchedule" }] } });
    await forbidden(taints, /is not allowed to modify taints/);
  });
});

describe("a kubelet and pods", () => {
  it("lists and watches those on its node only", async () => {
    const mine = await agent.list("pods", "", { fieldSelector: `spec.nodeName=${node}` });
    assert.deepEqual(
      mine.items.map(({ metadata }) => metadata.name),
      ["bound"],
    );
    await forbidden(agent.list("pods", ""), /can only list\/watch pods with spec\.nodeName field selector/);
    await forbidden(agent.get("pods", namespace, "elsewhere"), /no relationship found between node/);
  });

  it("sets the status of its own, deletes its own, and nothing else", async () => {
    const set = (name: string, subresource: string, patch: Fields): Promise<ApiObject> =>
      agent.patch("pods", namespace, name, patch, { subresource });
    await set("bound", "status", { status: { phase: "Running" } });
    const message = /can only update pod status for pods with spec\.nodeName set to itself/;
    await forbidden(set("elsewhere", "status", { status: { phase: "Running" } }), message);
    await forbidden(
      set("bound", "status", { metadata: { labels: { a: "b" } } }),
      /cannot update labels through pod status/,
    );
    await forbidden(set("bound", "", { metadata: { labels: { a: "b" } } }), /cannot patch resource "pods"/);
    await forbidden(
      agent.delete("pods", namespace, "elsewhere"),
      /can only delete pods with spec\.nodeName set to itself/,
    );
  });

  it("makes mirror pods, owned by its node, without accounts and secrets", async () => {
    const owner = { apiVersion: "v1", kind: "Node", name: node, uid: nodeObject.metadata.uid, controller: true };
    const metadata = { annotations: { "kubernetes.io/config.mirror": "hash" }, ownerReferences: [owner] };
    const make = (name: string, spec: Fields, meta: Fields = metadata): Promise<ApiObject> =>
      agent.create("pods", podOf(namespace, name, { nodeName: node, ...spec }, meta));
    const mirror = await make("mirror", {});
    assert.equal(mirror.spec?.["volumes"], undefined);
    assert.equal(mirror.spec?.["serviceAccountName"], undefined);
    await forbidden(make("plain", {}, {}), /can only create mirror pods/);
    await forbidden(make("orphan", {}, { annotations: metadata.annotations }), /with an owner reference set to itself/);
    await forbidden(make("away", { nodeName: "other" }), /can only create pods with spec\.nodeName set to itself/);
    const volumes = [{ name: "s", secret: { secretName: "mine" } }];
    await forbidden(make("secretive", { volumes }), /a mirror pod may not reference secrets/);
    await forbidden(make("account", { serviceAccountName: "default" }), /may not reference service accounts/);
    await agent.delete("pods", namespace, "mirror", { gracePeriodSeconds: 0 });
    assert.equal(await kit.find("pods", namespace, "mirror"), undefined);
  });

  it("reads the objects that its pods refer to, one by one", async () => {
    assert.equal((await agent.get("secrets", namespace, "mine")).metadata.name, "mine");
    await forbidden(
      agent.get("secrets", namespace, "others"),
      /no relationship found between node '.*' and this object/,
    );
    await forbidden(agent.list("secrets", namespace), /No Object name found/);
    const named = await agent.list("secrets", namespace, { fieldSelector: "metadata.name=mine" });
    assert.equal(named.items.length, 1);
    assert.equal((await agent.get("configmaps", namespace, "kube-root-ca.crt")).kind, "ConfigMap");
    assert.equal((await agent.list("services", "")).kind, "ServiceList");
  });
});

describe("tokens", () => {
  it("are JWTs that name pod and node, for the requested time and audience", async () => {
    const jwt = await token(agent, { audiences: ["vault"], expirationSeconds: 700, ...boundTo(pod) });
    const claims = JSON.parse(Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString()) as Fields;
    assert.deepEqual(claims["aud"], ["vault"]);
    assert.equal(Number(claims["exp"]) - Number(claims["iat"]), 700);
    assert.equal(claims["sub"], `system:serviceaccount:${namespace}:default`);
    const bound = claims["kubernetes.io"] as Record<string, Fields>;
    assert.deepEqual(bound["pod"], { name: "bound", uid: pod.metadata.uid });
    assert.deepEqual(bound["node"], { name: node, uid: nodeObject.metadata.uid });
  });

  it("are given to a kubelet for pods on its node and their audiences only", async () => {
    await forbidden(token(agent, {}), /node requested token not bound to a pod/);
    await forbidden(
      token(agent, boundTo(pod, "0-0")),
      /the UID in the bound object reference \(0-0\) does not match the UID in record/,
    );
    await forbidden(token(agent, { audiences: ["other"], ...boundTo(pod) }), /audience "other"/);
    const elsewhere = await kit.get("pods", namespace, "elsewhere");
    await forbidden(token(agent, boundTo(elsewhere)), /no relationship|scheduled on a different node/);
  });

  it("are of the requested account, if the request names one", async () => {
    const account = await kit.get("serviceaccounts", namespace, "default");
    const ask = (uid = ""): Promise<Fields> =>
      kit.act("serviceaccounts", namespace, "default", "token", { ...tokenRequest({}), metadata: { uid } });
    assert.notEqual((await ask(account.metadata.uid))["status"], undefined);
    await assert.rejects(ask("0-0"), (error) => {
      assert.ok(error instanceof ApiRefusal && error.code === 409, String(error));
      const message =
        /^Operation cannot be fulfilled on TokenRequest\.authentication\.k8s\.io "default": the UID in the token request \(0-0\)/;
      assert.match(String(error.status["message"]), message);
      return true;
    });
  });

  it("live ten minutes at least", async () => {
    const refused = token(kit, { expirationSeconds: 60 });
    await assert.rejects(refused, (error) => error instanceof ApiRefusal && error.code === 422);
  });

  it("are reviewed for user and audience, or not authenticated", async () => {
    const review = async (spec: Fields): Promise<Fields> => {
      const body = { kind: "TokenReview", apiVersion: "authentication.k8s.io/v1", spec };
      const answer = await agent.raw("POST", "/apis/authentication.k8s.io/v1/tokenreviews", { body });
      assert.equal(answer.code, 201);
      return (answer.body as { status: Fields }).status;
    };
    const jwt = await token(kit, boundTo(pod));
    const good = await review({ token: jwt });
    assert.equal(good["authenticated"], true);
    assert.equal((good["user"] as Fields)["username"], `system:serviceaccount:${namespace}:default`);
    assert.equal((await review({ token: jwt, audiences: ["other"] }))["authenticated"], undefined);
    assert.equal((await review({ token: `${jwt.slice(0, -4)}AAAA` }))["authenticated"], undefined);
    assert.equal((await review({ token: "nonsense" }))["error"], "invalid bearer token");
  });

  it("access is reviewed for a user's groups", async () => {
    const review = async (spec: Fields): Promise<unknown> => {
      const body = { kind: "SubjectAccessReview", apiVersion: "authorization.k8s.io/v1", spec };
      const answer = await agent.raw("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", { body });
      return (answer.body as { status: Fields }).status["allowed"];
    };
    const resourceAttributes = { verb: "get", resource: "nodes", subresource: "proxy", name: node, version: "v1" };
    assert.equal(await review({ user: "root", groups: ["system:masters"], resourceAttributes }), true);
    assert.equal(await review({ user: "someone", groups: ["people"], resourceAttributes }), false);
  });
});

describe("leases", () => {
  const renewTime = "2026-11-21T10:00:00.123456Z";
  const lease = (name: string): Fields => ({
    metadata: { name, namespace: LEASES },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime },
  });

  it("a kubelet makes and renews its own; an old version is a Conflict", async () => {
    const made = await agent.create("leases", lease(node));
    assert.equal(made.spec?.["renewTime"], renewTime);
    const spec = { ...made.spec, renewTime: "2026-11-21T10:00:10.000000Z" };
    const renewed = await agent.update("leases", { ...made, spec });
    assert.equal(renewed.spec?.["renewTime"], spec.renewTime);
    await assert.rejects(agent.update("leases", made), (error) => error instanceof ApiRefusal && error.code === 409);
    const blind = agent.update("leases", { ...made, metadata: { ...made.metadata, resourceVersion: "" } });
    await assert.rejects(blind, /metadata\.resourceVersion: Invalid value: 0: must be specified for an update/);
  });

  it("an agent uses no other node's lease", async () => {
    const message = /can only access node lease with the same name as the requesting node/;
    await forbidden(agent.create("leases", lease("other")), message);
    await forbidden(agent.get("leases", LEASES, "other"), message);
    const away = { ...lease(node), metadata: { name: node, namespace } };
    await forbidden(agent.create("leases", away), /can only access leases in the "kube-node-lease" system namespace/);
  });

  it("times without microseconds are no times", async () => {
    const patch = { spec: { renewTime: "2026-11-21T10:00:00Z" } };
    const refused = agent.patch("leases", LEASES, node, patch, { type: "merge" });
    await assert.rejects(refused, (error) => error instanceof ApiRefusal && [400, 422].includes(error.code));
  });
});

describe("events", () => {
  const event = (name: string, involved: Fields): Fields => ({
    metadata: { name, namespace },
    involvedObject: { kind: "Pod", name: "bound", namespace, ...involved },
    reason: "Tested",
    message: "m",
    type: "Normal",
    count: 1,
    source: { component: "kubelet", host: node },
    firstTimestamp: "2026-11-21T10:00:00Z",
    lastTimestamp: "2026-11-21T10:00:00Z",
  });

  it("are made, counted up by a patch, found by their object, and shown in both groups", async () => {
    await agent.create("events", event("bound.1", {}));
    await agent.patch("events", namespace, "bound.1", { count: 2 });
    const { items } = await kit.list("events", namespace, { fieldSelector: "involvedObject.name=bound,reason=Tested" });
    assert.deepEqual(
      items.map((item) => item["count"]),
      [2],
    );
    const other = await kit.get("events.events.k8s.io", namespace, "bound.1");
    assert.deepEqual([other["note"], other["deprecatedCount"]], ["m", 2]);
    assert.deepEqual(other["regarding"], { kind: "Pod", name: "bound", namespace });
  });

  it("belong into the namespace of their object", async () => {
    const refused = agent.create("events", event("away.1", { namespace: "default" }));
    await assert.rejects(
      refused,
      /involvedObject\.namespace: Invalid value: "default": does not match event\.namespace/,
    );
  });
});

describe("certificates", () => {
  it("a kubelet's request for its serving certificate waits for approval, then is signed with its names", async () => {
    const names = [node, "10.0.0.1"];
    const { request } = makeSigningRequest(`system:node:${node}`, ["system:nodes"], names);
    const csr = "certificatesigningrequests";
    const made = await agent.create(csr, {
      metadata: { generateName: "serving-" },
      spec: {
        request: Buffer.from(request).toString("base64"),
        signerName: "kubernetes.io/kubelet-serving",
        usages: ["digital signature", "server auth"],
      },
    });
    const { name } = made.metadata;
    cluster.willDelete(csr, "", name);
    assert.equal(made.spec?.["username"], `system:node:${node}`);
    const approval = { type: "Approved", status: "True", reason: "Suite", message: "yes" };
    await kit.patch(csr, "", name, { status: { conditions: [approval] } }, { type: "merge", subresource: "approval" });
    const isSigned = (object: ApiObject | undefined): boolean => object?.status?.["certificate"] !== undefined;
    const signed = await agent.waitFor(csr, "", name, isSigned, { what: "the serving certificate" });
    const certificate = new X509Certificate(Buffer.from(String(signed?.status?.["certificate"]), "base64"));
    assert.equal(certificate.subject, `O=system:nodes\nCN=system:node:${node}`);
    assert.equal(certificate.subjectAltName, `DNS:${node}, IP Address:10.0.0.1`);
    assert.deepEqual(certificate.keyUsage, ["1.3.6.1.5.5.7.3.1"]);
  });
});
