// PodCertificateRequests between a kubelet and a signer: the allowed requesters, the required proofs, and the signer's
// final verdict.

import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import { makePodKey } from "../../src/workers/tasks/certificates/pod-keys.js";
import { waitFor } from "../../tools/standalone/wait.js";
import { ApiRefusal, type ApiKit, type ApiObject, type Fields } from "../support/api-kit.js";
import { Cluster } from "../support/cluster.js";
import { isPodSignerServed, PodSigner, POD_REQUESTS } from "../support/pod-signer.js";

const SIGNER = "nodelet.test/contract";

let cluster: Cluster;
let kit: ApiKit;
let agent: ApiKit;
let served: boolean;
/** Spec of a PodCertificateRequest that the server accepts. */
let spec: Fields;

before(async () => {
  cluster = await Cluster.start();
  ({ kit } = cluster);
  const { namespace } = cluster;
  served = await isPodSignerServed(kit);
  if (!served) return;
  const node = `${namespace}-node`;
  agent = await cluster.nodeKit(node);
  const nodeObject = await agent.create("nodes", { metadata: { name: node } });
  cluster.willDelete("nodes", "", node);
  const pod = await cluster.pod("bound", { nodeName: node });
  const account = await kit.get("serviceaccounts", namespace, "default");
  spec = {
    signerName: SIGNER,
    podName: "bound",
    podUID: pod.metadata.uid,
    serviceAccountName: "default",
    serviceAccountUID: account.metadata.uid,
    nodeName: node,
    nodeUID: nodeObject.metadata.uid,
  };
  // The server's caches follow a moment later.
  await waitFor(() => ask({}), { what: "the agent to be let ask for its pod", intervalMs: 100 });
});
after(async () => {
  if (served) agent.close();
  await cluster[Symbol.asyncDispose]();
});

function skipped(t: TestContext): boolean {
  if (!served) t.skip("certificates.k8s.io/v1beta1 podcertificaterequests are not served");
  return !served;
}

/** Creates a request with a new key; `other` replaces the valid values. */
async function ask(other: Fields, keyType = "ED25519"): Promise<ApiObject> {
  const made = await makePodKey({ keyType });
  return agent.create(POD_REQUESTS, {
    metadata: { generateName: "req-", namespace: cluster.namespace },
    spec: { ...spec, stubPKCS10Request: made?.request, ...other },
  });
}

async function refused(call: Promise<unknown>, code: number, message: RegExp): Promise<void> {
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof ApiRefusal, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(String(error.status["message"]), message);
    return true;
  });
}

test("a node requests certificates for its own pods only, with the pods' identity", async (t) => {
  if (skipped(t)) return;
  for (const keyType of ["ECDSAP256", "ECDSAP384", "ECDSAP521", "RSA3072"]) {
    const made = await ask({}, keyType);
    assert.deepEqual([made.spec?.["maxExpirationSeconds"], made.metadata.name.slice(0, 4)], [86_400, "req-"], keyType);
  }
  const of = { fieldSelector: `spec.nodeName=${String(spec["nodeName"])}` };
  assert.equal((await agent.list(POD_REQUESTS, "", of)).items.length, 5);
  await refused(agent.list(POD_REQUESTS, ""), 403, /can only list\/watch/);
  await refused(ask({ nodeName: "another" }), 403, /which is not the requesting node/);
  await refused(ask({ serviceAccountName: "another" }), 403, /serviceAccountName/);
  for (const field of ["podUID", "nodeUID", "serviceAccountUID"])
    await assert.rejects(ask({ [field]: "another" }), field);
});

test("a request proves that its sender has the key, and keeps to the times", async (t) => {
  if (skipped(t)) return;
  const made = await makePodKey({ keyType: "ECDSAP256" });
  assert.ok(made !== undefined);
  const forged = Buffer.from(made.request, "base64");
  forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1;
  await refused(ask({ stubPKCS10Request: forged.toString("base64") }), 422, /invalid signature/);
  await refused(ask({ stubPKCS10Request: "eA==" }), 422, /must be a valid PKCS#10 CSR/);
  await refused(ask({ stubPKCS10Request: null }), 422, /exactly one of \(stubPKCS10Request\)/);
  await refused(ask({ maxExpirationSeconds: 3599 }), 422, /must be in the range \[3600, 7862400\]/);
  await refused(ask({ maxExpirationSeconds: 86_401, signerName: "kubernetes.io/x" }), 422, /\[3600, 86400\]/);
});

test("the signer's word is the last, and must fit the key", async (t) => {
  if (skipped(t)) return;
  const signer = new PodSigner();
  const say = (request: ApiObject, status: Fields): Promise<ApiObject> =>
    kit.update(POD_REQUESTS, { ...request, status }, "status");
  const [one, other] = [await ask({}), await ask({})];
  await refused(say(one, signer.issued(other)), 422, /was not issued to the requested public key/);
  await refused(
    say(one, { ...signer.issued(one), beginRefreshAt: "2026-01-01T00:00:00Z" }),
    422,
    /at least 10 minutes/,
  );
  await refused(say(one, { ...signer.issued(one), ...signer.refused("Denied", "No", "x") }), 422, /must be empty when/);
  const issued = await say(one, signer.issued(one));
  assert.match(String(issued.status?.["certificateChain"]), /BEGIN CERTIFICATE/);
  await refused(say(issued, signer.refused("Denied", "No", "x")), 422, /immutable after/);
  const denied = await say(other, signer.refused("Denied", "No", "x"));
  await refused(say(denied, signer.issued(denied)), 422, /immutable after/);
  await assert.rejects(agent.update(POD_REQUESTS, { ...issued, status: {} }, "status"), ApiRefusal);
});
