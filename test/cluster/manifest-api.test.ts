// The manifest API on a node of a cluster: its pods' mirror pods, authorization on port 10250, a start without API
// server.
// @promise Configuration and manifests: Manifest API in a cluster: a mirror pod shows the pod from its creation to its
//   removal; a client certificate and a service account's token need nodes/manifests, and nodes/proxy does not include
//   it; after a reboot without API server the pods start from disk.

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { removeAllSandboxes, waitFor } from "../harness/node.js";
import type { ApiObject, Fields } from "../support/api-kit.js";
import { NODE_NAME, startClusterNode, type ClusterNode } from "../support/cluster-node.js";
import { ageRecords } from "../support/earlier-boot.js";
import { IDLE, manifest, shell, waitForPod } from "../support/static-pods.js";
import { TestCA, type Pair } from "../support/test-ca.js";

const RUN = `nodelet-manifests-${process.pid}`;
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const VERBS = ["get", "create", "update", "delete"];
const MIRROR = "kubernetes.io/config.mirror";
const SOURCE = "kubernetes.io/config.source";

/** A client of port 10250: a certificate or a token. */
type Client = Pair | { token: string };

let dir: string;
let ca: TestCA;
let cluster: ClusterNode;
let operator: Client;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), "nodelet-manifests-"));
  ca = await TestCA.create(dir);
  cluster = await startClusterNode({
    secure: true,
    flags: ["--manifest-api"],
    config: {
      authentication: {
        anonymous: { enabled: false },
        webhook: { enabled: true },
        x509: { clientCAFile: join(dir, "ca.crt") },
      },
      authorization: { mode: "Webhook" },
    },
  });
  operator = await client("operator");
  await grant("operator", { kind: "User", name: `${RUN}-operator` }, "nodes/manifests");
  await waitFor(async () => (await ask(operator, "GET", "/manifests/").catch(() => undefined))?.status === 200, {
    what: "the authenticated port to serve the operator",
    timeoutMs: 60_000,
  });
});
after(async () => {
  const { api, fixture } = cluster;
  if (fixture === undefined) {
    for (const word of ["operator", "proxy", "account"])
      for (const kind of ["clusterrolebindings", "clusterroles"])
        await api.raw("DELETE", `${RBAC}/${kind}/${RUN}-${word}`);
  }
  await api.raw("DELETE", `/api/v1/namespaces/default/serviceaccounts/${RUN}`);
  await cluster.stop();
  await rm(dir, { recursive: true, force: true });
});

const client = (word: string): Promise<Pair> => ca.issue(word, { subject: `/CN=${RUN}-${word}` });

async function ask(
  who: Client,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: string }> {
  const credentials =
    "token" in who ? { headers: { authorization: `Bearer ${who.token}` } } : { cert: who.cert, key: who.key };
  const url = `${cluster.node.kubelet.secureUrl}${path}`;
  const sent = request(url, { method, agent: false, rejectUnauthorized: false, ...credentials });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  for await (const part of response.setEncoding("utf8")) text += part as string;
  return { status: response.statusCode ?? 0, body: text };
}

/** All verbs on a subresource of nodes. */
async function grant(word: string, subject: { kind: string; name: string; namespace?: string }, resource: string) {
  const { api, fixture } = cluster;
  if (fixture !== undefined) {
    const user = subject.namespace === undefined ? subject.name : `system:serviceaccount:default:${subject.name}`;
    fixture.settings.grants.push(
      ({ name }, asked) =>
        name === user && `${asked.resource}/${asked.subresource}` === resource && VERBS.includes(asked.verb),
    );
    return;
  }
  const make = async (kind: string, body: Fields): Promise<void> => {
    const answer = await api.raw("POST", `${RBAC}/${kind}`, {
      body: { metadata: { name: `${RUN}-${word}` }, ...body },
    });
    assert.equal(answer.code, 201, JSON.stringify(answer.body));
  };
  await make("clusterroles", { rules: [{ apiGroups: [""], resources: [resource], verbs: VERBS }] });
  const apiGroup = "rbac.authorization.k8s.io";
  const roleRef = { apiGroup, kind: "ClusterRole", name: `${RUN}-${word}` };
  const from = subject.namespace === undefined ? { apiGroup } : {};
  await make("clusterrolebindings", { roleRef, subjects: [{ ...from, ...subject }] });
}

const pod = (name: string): object => manifest(name, [shell("app", IDLE)]);
const running = ({ status }: { status?: { phase?: string } }): boolean => status?.phase === "Running";
const mirror = (name: string, holds: (pod: ApiObject | undefined) => boolean, what: string) =>
  cluster.api.waitFor("pods", "default", `${name}-${NODE_NAME}`, holds, { what, timeoutMs: 60_000 });
const mirrored = (one: ApiObject | undefined): boolean => one?.status?.["phase"] === "Running";

test("a client certificate needs nodes/manifests; nodes/proxy does not include it", async () => {
  const [stranger, proxy] = [await client("stranger"), await client("proxy")];
  await grant("proxy", { kind: "User", name: `${RUN}-proxy` }, "nodes/proxy");
  for (const who of [stranger, proxy]) {
    const refused = await ask(who, "POST", "/manifests/", pod("refused"));
    assert.equal(refused.status, 403);
    assert.match(refused.body, /verb=create, resource=nodes, subresource\(s\)=\[manifests\]/);
    assert.equal((await ask(who, "DELETE", "/manifests/default/refused")).status, 403);
  }
  assert.equal((await ask(operator, "POST", "/manifests/", pod("cert"))).status, 201);
  await waitForPod(cluster.node, "cert", running, "running");
  assert.equal((await ask(operator, "GET", "/manifests/default/refused")).status, 404);
  const { fixture } = cluster;
  const reviews = fixture?.calls.count({
    verb: "create",
    resource: "subjectaccessreviews",
    user: `system:node:${NODE_NAME}`,
  });
  assert.ok(reviews === undefined || reviews >= 3, `the API server was asked ${reviews ?? 0} times`);
});

test("a service account's token needs the same", async () => {
  const { api } = cluster;
  await api.create("serviceaccounts", { metadata: { name: RUN, namespace: "default" } });
  const made = (await api.act("serviceaccounts", "default", RUN, "token", {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    spec: {},
  })) as { status: { token: string } };
  const account = { token: made.status.token };
  assert.equal((await ask({ token: "none" }, "GET", "/manifests/")).status, 401);
  // A refusal is cached for 30 s, for each verb: the account asks for another one later.
  assert.equal((await ask(account, "DELETE", "/manifests/default/token")).status, 403);
  await grant("account", { kind: "ServiceAccount", name: RUN, namespace: "default" }, "nodes/manifests");
  await waitFor(async () => (await ask(account, "POST", "/manifests/", pod("token"))).status === 201, {
    what: "the account to be admitted",
    timeoutMs: 120_000,
  });
  await waitForPod(cluster.node, "token", running, "running");
  assert.equal((await ask(account, "GET", "/manifests/default/token")).status, 200);
});

test("a pod of the API has a mirror pod, from its creation to its removal", async () => {
  const { api, node } = cluster;
  assert.equal((await ask(operator, "POST", "/manifests/", pod("seen"))).status, 201);
  const first = await mirror("seen", mirrored, "the mirror pod to be Running");
  const { uid, annotations } = (await waitForPod(node, "seen", running, "running")).metadata;
  assert.equal(first?.metadata.annotations?.[MIRROR], annotations?.["kubernetes.io/config.hash"]);
  assert.equal(first?.metadata.annotations?.[SOURCE], "http");
  assert.equal(first.spec?.["nodeName"], NODE_NAME);

  // It is an image of the pod only: deleted, it is created again, and the pod stays.
  await api.delete("pods", "default", `seen-${NODE_NAME}`, { gracePeriodSeconds: 0 });
  const again = await mirror(
    "seen",
    (one) => mirrored(one) && one?.metadata.uid !== first.metadata.uid,
    "another mirror pod",
  );
  assert.equal((await waitForPod(node, "seen", running, "running")).metadata.uid, uid);
  const containers = (one: ApiObject | undefined): unknown =>
    (one?.status?.["containerStatuses"] as { containerID: string }[]).map(({ containerID }) => containerID);
  assert.deepEqual(containers(again), containers(first));

  assert.equal((await ask(operator, "DELETE", "/manifests/default/seen")).status, 200);
  await mirror("seen", (one) => one === undefined, "the mirror pod to be removed");
});

test("after a reboot without API server the pods start from disk", async (t) => {
  const { fixture, node } = cluster;
  if (fixture === undefined) {
    t.skip("the API server of KUBECONFIG cannot be stopped");
    return;
  }
  assert.equal((await ask(operator, "POST", "/manifests/", pod("reboot"))).status, 201);
  const old = await waitForPod(node, "reboot", running, "running");
  await mirror("reboot", mirrored, "the mirror pod to be Running");
  await fixture.stop();
  await node.kill9();
  await forgetBoot();
  await node.restart();
  const anew = await waitForPod(node, "reboot", running, "running again");
  assert.equal(anew.metadata.uid, old.metadata.uid);
  const [before, now] = [old, anew].map(({ status }) => status?.containerStatuses?.[0]?.containerID);
  assert.ok(now !== undefined && now !== before, "another container");
  // The mirror pod follows when the API server is back.
  await fixture.restart();
  const shows = (one: ApiObject | undefined): boolean => JSON.stringify(one?.status ?? {}).includes(now);
  await mirror("reboot", shows, "the mirror pod to show the new container");
});

/** What a reboot leaves: no sandbox or container in the runtime, and records of another boot. */
async function forgetBoot(): Promise<void> {
  await removeAllSandboxes(cluster.node.endpoint);
  await ageRecords(cluster.node.kubelet.rootDir);
}
