// An image that only a pod's service account may pull. The plugin gets a token of the account, bound to the pod. From
// then on pods of that account may use the image. A real plugin, a real registry, a real runtime.

import assert from "node:assert/strict";
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { RemoveImageRequest } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { call, connectCri } from "../../tools/standalone/cri.js";
import { testImage } from "../harness/node.js";
import type { ApiObject, Fields } from "../support/api-kit.js";
import { boundPod, isReady, statusOf, startClusterNode, type ClusterNode } from "../support/cluster-node.js";
import { PASSWORD, startRegistry, USER, type TestRegistry } from "../support/registry.js";
import { IDLE } from "../support/static-pods.js";

const AUDIENCE = "registry.nodelet.test";
const TENANT = "nodelet.test/tenant";
const V1 = "credentialprovider.kubelet.k8s.io/v1";
/** On a real server, gone with the file. */
const ROLE = `nodelet-image-tokens-${process.pid}`;

let dir: string;
let registry: TestRegistry;
let cluster: ClusterNode;
let image: string;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), "nodelet-tokens-"));
  registry = await startRegistry({ auth: true });
  // Another image than that of other tests: it is removed in the end.
  const archive = process.env["NODELET_TEST_IMAGES"] ?? "";
  await registry.push({ archive, source: testImage(), repository: "own/app", tag: "1", padding: 1000 });
  image = `${registry.address}/own/app:1`;
  await writePlugin();
  cluster = await startClusterNode({
    flags: [
      `--image-credential-provider-config=${join(dir, "providers.json")}`,
      `--image-credential-provider-bin-dir=${dir}`,
    ],
  });
  await allowAudience();
  for (const [name, annotations] of [
    ["tenant", { [TENANT]: "blue", "nodelet.test/secret": "unseen" }],
    ["stranger", {}],
  ] as const) {
    await cluster.api.create("serviceaccounts", { metadata: { name, namespace: "default", annotations } });
  }
});
after(async () => {
  const { api, fixture, node } = cluster;
  for (const name of ["first", "second", "third"]) {
    await api.delete("pods", "default", name, { gracePeriodSeconds: 0 });
  }
  for (const name of ["tenant", "stranger"]) await api.delete("serviceaccounts", "default", name);
  if (fixture === undefined) {
    for (const kind of ["clusterrolebindings", "clusterroles"]) {
      await api.raw("DELETE", `/apis/rbac.authorization.k8s.io/v1/${kind}/${ROLE}`);
    }
  }
  const cri = connectCri(node.endpoint);
  await cluster.stop();
  await call((done) => cri.image.removeImage(RemoveImageRequest.fromPartial({ image: { image } }), done));
  cri.close();
  await registry.stop();
  await rm(dir, { recursive: true });
});

async function writePlugin(): Promise<void> {
  const answer = {
    kind: "CredentialProviderResponse",
    apiVersion: V1,
    cacheKeyType: "Registry",
    auth: { [registry.address]: { username: USER, password: PASSWORD } },
  };
  const text = `#!/bin/sh\ncat >> "$0.requests"; echo >> "$0.requests"\necho '${JSON.stringify(answer)}'\n`;
  await writeFile(join(dir, "plugin"), text);
  await chmod(join(dir, "plugin"), 0o755);
  const provider = {
    name: "plugin",
    matchImages: [registry.address],
    defaultCacheDuration: "1h",
    apiVersion: V1,
    tokenAttributes: {
      serviceAccountTokenAudience: AUDIENCE,
      cacheType: "ServiceAccount",
      requireServiceAccount: true,
      requiredServiceAccountAnnotationKeys: [TENANT],
    },
  };
  const config = { apiVersion: "kubelet.config.k8s.io/v1", kind: "CredentialProviderConfig", providers: [provider] };
  await writeFile(join(dir, "providers.json"), JSON.stringify(config));
}

/** Audiences that no volume of a pod names are a node's only by permission. */
async function allowAudience(): Promise<void> {
  const { api, fixture } = cluster;
  const verb = "request-serviceaccounts-token-audience";
  if (fixture !== undefined) {
    fixture.settings.grants.push(
      ({ groups }, asked) => groups.includes("system:nodes") && asked.verb === verb && asked.resource === AUDIENCE,
    );
    return;
  }
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const make = async (kind: string, body: Fields): Promise<void> => {
    const answer = await api.raw("POST", `${rbac}/${kind}`, { body: { metadata: { name: ROLE }, ...body } });
    assert.equal(answer.code, 201, JSON.stringify(answer.body));
  };
  await make("clusterroles", { rules: [{ apiGroups: [""], resources: [AUDIENCE], verbs: [verb] }] });
  const apiGroup = "rbac.authorization.k8s.io";
  await make("clusterrolebindings", {
    roleRef: { apiGroup, kind: "ClusterRole", name: ROLE },
    subjects: [{ apiGroup, kind: "Group", name: "system:nodes" }],
  });
}

function pod(name: string, serviceAccountName: string, imagePullPolicy: string): Promise<ApiObject> {
  const command = ["/bin/sh", "-c", IDLE];
  const containers = [{ name: "app", image, imagePullPolicy, command }];
  return cluster.api.create("pods", boundPod(name, IDLE, { serviceAccountName, containers }));
}
const until = (name: string, holds: (pod: ApiObject | undefined) => boolean, what: string) =>
  cluster.api.waitFor("pods", "default", name, holds, { what: `${name} ${what}` });

function waitingReason(of: ApiObject | undefined): string | undefined {
  const [status] = statusOf(of).containerStatuses ?? [];
  return (status?.state as { waiting?: { reason?: string } } | undefined)?.waiting?.reason;
}

test("the plugin gets the pod's token; its credentials are used only for pods of that account", async () => {
  const first = await pod("first", "tenant", "IfNotPresent");
  await until("first", isReady, "Ready");
  const requests = (await readFile(join(dir, "plugin.requests"), "utf8")).trim().split("\n");
  assert.equal(requests.length, 1);
  const { serviceAccountToken = "", ...rest } = JSON.parse(requests[0] ?? "") as { serviceAccountToken?: string };
  assert.deepEqual(rest, {
    kind: "CredentialProviderRequest",
    apiVersion: V1,
    image: `${registry.address}/own/app`,
    serviceAccountAnnotations: { [TENANT]: "blue" },
  });
  const claims = JSON.parse(Buffer.from(serviceAccountToken.split(".")[1] ?? "", "base64url").toString()) as Fields;
  assert.deepEqual(claims["aud"], [AUDIENCE]);
  assert.equal(claims["sub"], "system:serviceaccount:default:tenant");
  const bound = claims["kubernetes.io"] as Record<string, Fields>;
  assert.deepEqual(bound["pod"], { name: "first", uid: first.metadata.uid });

  const account = { uid: bound["serviceaccount"]?.["uid"], namespace: "default", name: "tenant" };
  const folder = join(cluster.node.kubelet.rootDir, "image_manager", "pulled");
  const records = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "utf8")));
  const mapping = records.map((text) => (JSON.parse(text) as { credentialMapping: Fields }).credentialMapping);
  assert.deepEqual(
    mapping.map((each) => each[`${registry.address}/own/app`]).filter((each) => each !== undefined),
    [{ kubernetesServiceAccounts: [account] }],
  );

  await Promise.all([pod("second", "tenant", "Never"), pod("third", "stranger", "Never")]);
  await until("second", isReady, "Ready");
  await until("third", (one) => waitingReason(one) === "ErrImageNeverPull", "refused the image");
});
