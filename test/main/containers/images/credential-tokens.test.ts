// Service account tokens for credential providers: the pods that get one, the plugin's request, and the pods that share
// a response.
// @promise Images and logs: A credential provider's response for one service account is used for no other; its image is
//   for pods of that account.
// @with test/cluster/image-tokens.test.ts

import assert from "node:assert/strict";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type {
  CredentialProviderSettings,
  TokenAttributes,
} from "../../../../src/main/containers/images/credential-providers/config.js";
import { introduce } from "../../../../src/main/containers/images/credential-providers/pod-identity.js";
import type { PodIdentity } from "../../../../src/main/containers/images/credential-providers/pod-identity.js";
import { CredentialProvider } from "../../../../src/main/containers/images/credential-providers/provider.js";
import { CredentialProviders } from "../../../../src/main/containers/images/credential-providers/providers.js";
import type { CacheKeyType } from "../../../../src/main/containers/images/credential-providers/response.js";
import type { ClusterObjects, TokenRequest } from "../../../../src/main/model/cluster-access.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { AuthConfig } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { pod as makePod } from "../../../support/pods.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { notFound } from "../../cluster/follow-kit.js";
import { never } from "./puller-kit.js";

const V1 = "credentialprovider.kubelet.k8s.io/v1";
const ATTRIBUTES: TokenAttributes = {
  serviceAccountTokenAudience: "registry",
  cacheType: "ServiceAccount",
  requireServiceAccount: true,
  requiredServiceAccountAnnotationKeys: ["tenant"],
  optionalServiceAccountAnnotationKeys: ["role"],
};
const STATIC = makePod({ serviceAccountName: "robot" });
const POD = ofApi("robot");

/** A pod of the API. */
function ofApi(serviceAccountName?: string): Pod {
  const made = makePod(serviceAccountName === undefined ? {} : { serviceAccountName });
  return { ...made, metadata: { ...made.metadata, annotations: {} } };
}

/** A cluster of one service account, whose tokens say what they were asked for. */
function clusterOf(annotations: Record<string, string> | undefined = { tenant: "a", role: "b", other: "c" }) {
  const asked: TokenRequest[] = [];
  const state: { failure?: Error } = {};
  const objects = {
    client: {
      get: (_kind: unknown, { namespace, name }: { namespace: string; name: string }) =>
        name === "robot"
          ? Promise.resolve({ metadata: { uid: "sa-1", namespace, name, annotations } })
          : Promise.reject(notFound("serviceaccount", name)),
    },
    tokens: {
      get: (request: TokenRequest) => {
        asked.push(request);
        if (state.failure !== undefined) return Promise.reject(state.failure);
        return Promise.resolve({ token: `token of ${request.pod.metadata.name}`, expiresAt: 0 });
      },
    },
  } as unknown as ClusterObjects;
  return { asked, state, access: () => objects };
}

test("a plugin receives the pod's token, bound to the pod, and the annotations that it may see", async () => {
  const { asked, access } = clusterOf();
  assert.deepEqual(await introduce(POD, ATTRIBUTES, access, never), {
    kind: "account",
    identity: {
      account: { uid: "sa-1", namespace: "default", name: "robot" },
      annotations: { tenant: "a", role: "b" },
      token: "token of web",
    },
  });
  assert.deepEqual(asked, [{ pod: POD, audience: "registry", serviceAccountUid: "sa-1" }]);
});

test("pods that get credentials: those of accounts with the annotations; static and nameless pods if no account is required", async () => {
  const { access, asked } = clusterOf({ role: "b" });
  const kind = async (pod = POD, attributes: Partial<TokenAttributes> = {}) =>
    introduce(pod, { ...ATTRIBUTES, ...attributes }, access, never);
  const open: Partial<TokenAttributes> = { requireServiceAccount: false, requiredServiceAccountAnnotationKeys: [] };
  const why = "service account default/robot has no annotation tenant";
  assert.deepEqual(await kind(), { kind: "not served", why });
  for (const pod of [STATIC, ofApi(), ofApi("")]) {
    assert.deepEqual(await kind(pod), { kind: "not served", why: "the pod has no service account" });
    assert.deepEqual(await kind(pod, open), { kind: "anonymous" });
  }
  assert.deepEqual(asked, []);
  assert.equal((await kind(POD, open)).kind, "account");
});

test("without the account or its token there is an error with the server's words", async () => {
  const { access, state } = clusterOf();
  const refused = (message: RegExp, pod = POD, cluster: typeof access | (() => undefined) = access) =>
    assert.rejects(introduce(pod, ATTRIBUTES, cluster, never), { name: "PodIdentityError", message });
  await refused(/^no token of service account default\/gone for it: .*not found$/, ofApi("gone"));
  await refused(/has not joined its cluster yet/, POD, () => undefined);
  state.failure = new Error("failed to fetch token: audience not allowed");
  await refused(/^no token of service account default\/robot for it: failed to fetch token: audience not allowed$/);
  const gone = AbortSignal.abort(new Error("the pod is being terminated"));
  await assert.rejects(introduce(POD, ATTRIBUTES, access, gone), /^Error: the pod is being terminated$/);
});

const settingsOf = (name: string, fields: Partial<TokenAttributes> = {}): CredentialProviderSettings => ({
  name,
  matchImages: ["*.example"],
  defaultCacheDurationMs: 60_000,
  apiVersion: V1,
  args: [],
  env: [],
  tokenAttributes: { ...ATTRIBUTES, ...fields },
});
const identityOf = (token: string, more: Partial<PodIdentity> = {}): PodIdentity => {
  return { account: { uid: "sa-1", namespace: "default", name: "robot" }, annotations: {}, token, ...more };
};

function provider(cacheType: TokenAttributes["cacheType"], cacheKeyType: CacheKeyType = "Global", password = "word") {
  const runs: (string | undefined)[] = [];
  const run = (_settings: unknown, { identity }: { identity?: PodIdentity | undefined }) => {
    runs.push(identity?.token);
    const auths = new Map([["*.example", AuthConfig.fromPartial({ username: identity?.token ?? "nobody", password })]]);
    return Promise.resolve({ cacheKeyType, cacheDurationMs: undefined, auths });
  };
  const made = new CredentialProvider(settingsOf("plugin", { cacheType }), new SteppedClock(), run);
  const ask = async (identity?: PodIdentity, image = "a.example/x"): Promise<string | undefined> =>
    (await made.credentials({ image, identity }, never))[0]?.username;
  return { ask, runs };
}

test("a response is valid for the account, its annotations and (Token) the token, never for others", async () => {
  const rows: [what: string, second: PodIdentity | undefined, byAccount: boolean][] = [
    ["the same token", identityOf("t1"), true],
    ["another token of the account", identityOf("t2"), true],
    ["another account", identityOf("t1", { account: { uid: "sa-2", namespace: "default", name: "two" } }), false],
    [
      "the account made anew",
      identityOf("t1", { account: { uid: "sa-3", namespace: "default", name: "robot" } }),
      false,
    ],
    [
      "the account of another namespace",
      identityOf("t1", { account: { uid: "sa-1", namespace: "x", name: "robot" } }),
      false,
    ],
    ["another annotation", identityOf("t1", { annotations: { tenant: "a" } }), false],
    ["nobody", undefined, false],
  ];
  for (const [what, second, byAccount] of rows) {
    for (const keyType of ["Image", "Registry", "Global"] as const) {
      const kept = provider("ServiceAccount", keyType);
      await kept.ask(identityOf("t1"));
      assert.equal(await kept.ask(second), byAccount ? "t1" : (second?.token ?? "nobody"), `${what}, ${keyType}`);
      assert.equal(kept.runs.length, byAccount ? 1 : 2, `${what}, ${keyType}`);
      const byToken = provider("Token", keyType);
      await byToken.ask(identityOf("t1"));
      await byToken.ask(second);
      assert.equal(byToken.runs.length, what === "the same token" ? 1 : 2, `${what}, ${keyType}, by token`);
    }
  }
  const keyed = provider("ServiceAccount", "Image");
  await keyed.ask(identityOf("t1", { annotations: { a: "1", b: "2" } }));
  await keyed.ask(identityOf("t1", { annotations: { b: "2", a: "1" } }));
  assert.equal(keyed.runs.length, 1, "their order says nothing");
  await keyed.ask(identityOf("t1"), "a.example/y");
  assert.equal(keyed.runs.length, 2);
});

test("requests that are equal share a run of the plugin", async () => {
  const { ask, runs } = provider("ServiceAccount");
  const users = await Promise.all([ask(identityOf("t1")), ask(identityOf("t1")), ask(identityOf("t2")), ask()]);
  assert.deepEqual(users, ["t1", "t1", "t2", "nobody"]);
  assert.deepEqual(runs, ["t1", "t2", undefined]);
});

test("a token that comes back as a password needs cacheType Token", async () => {
  const { ask } = provider("ServiceAccount", "Global", "t1");
  const refusal =
    /^credential provider plugin: returned the pod's token as a password, which requires cacheType Token$/;
  await assert.rejects(ask(identityOf("t1")), { name: "PluginError", message: refusal });
  assert.equal(await ask(identityOf("other")), "other");
  assert.equal(await ask(), "nobody");
  assert.equal(await provider("Token", "Global", "t1").ask(identityOf("t1")), "t1");
});

async function plugin(t: TestContext): Promise<string> {
  const answer = { kind: "CredentialProviderResponse", apiVersion: V1, cacheKeyType: "Image" };
  const auth = { "*.example": { username: "user", password: "word" } };
  const binDir = await temporaryFolder(t);
  const text = `#!/bin/sh\ncat >> "$0.requests"; echo >> "$0.requests"\necho '${JSON.stringify({ ...answer, auth })}'\n`;
  await writeFile(join(binDir, "plugin"), text);
  await chmod(join(binDir, "plugin"), 0o755);
  return binDir;
}

test("the plugin's request, and the pods that may use its credentials", async (t) => {
  const binDir = await plugin(t);
  const { access, state } = clusterOf();
  const kept = keptLog();
  const deps = { clock: systemClock, log: kept.log, registry: new ThreadRegistry("main"), cluster: access };
  const optional = { requireServiceAccount: false, requiredServiceAccountAnnotationKeys: [] };
  const all = new CredentialProviders({ binDir, providers: [settingsOf("plugin", optional)], hash: "" }, deps);
  const sources = async (pod = POD) => (await all.forImage(pod, "a.example/x", never)).map(({ source }) => source);
  const account = { kind: "serviceAccount", uid: "sa-1", namespace: "default", name: "robot" };
  assert.deepEqual(await sources(), [account]);
  assert.deepEqual(await sources(STATIC), [{ kind: "node" }]);
  assert.deepEqual(await all.ofServiceAccount(STATIC, "a.example/x", never), []);
  assert.deepEqual(
    (await all.ofServiceAccount(POD, "a.example/x", never)).map(({ auth, source }) => [auth.username, source]),
    [["user", account]],
  );
  const requests = (await readFile(join(binDir, "plugin.requests"), "utf8")).trim().split("\n");
  const head = { kind: "CredentialProviderRequest", apiVersion: V1, image: "a.example/x" };
  assert.deepEqual(
    requests.map((text) => JSON.parse(text) as unknown),
    [{ ...head, serviceAccountToken: "token of web", serviceAccountAnnotations: { role: "b" } }, head],
  );
  state.failure = new Error("no audience");
  assert.deepEqual(await sources(), []);
  assert.deepEqual(kept.errors(), [
    'no credentials for image "a.example/x": skipping credential provider plugin: no token of service account default/robot for it: no audience',
  ]);
});

test("a stand-alone node logs the providers that it never calls", async (t) => {
  const binDir = await plugin(t);
  const kept = keptLog();
  const deps = { clock: systemClock, log: kept.log, registry: new ThreadRegistry("main") };
  const all = new CredentialProviders({ binDir, providers: [settingsOf("plugin")], hash: "" }, deps);
  assert.deepEqual(await all.forImage(STATIC, "a.example/x", never), []);
  assert.equal(kept.warnings().length, 1);
  assert.match(kept.warnings()[0] ?? "", /^credential provider plugin is never used: it requires a service account/);
  assert.deepEqual(kept.errors(), []);
});
