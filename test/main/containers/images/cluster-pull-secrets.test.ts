// imagePullSecrets of the API: which are read, and what of them is used.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ClusterPullSecrets } from "../../../../src/main/containers/images/keyring/cluster-pull-secrets.js";
import { MOST_PULL_SECRETS } from "../../../../src/main/containers/images/keyring/pull-secrets.js";
import type { ClusterObjects } from "../../../../src/main/model/cluster-access.js";
import type { Secret } from "../../../../src/shared/kubernetes/api/objects.js";
import { pod } from "../../../support/pods.js";
import { keptLog } from "../../../support/sources-kit.js";
import { notFound } from "../../cluster/follow-kit.js";

const never = new AbortController().signal;
const loop = { turn: () => Promise.resolve() };
const base64 = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64");
const login = { username: "u", password: "hidden-word" };
const secret = (type: string, key: string, value: unknown): Secret => ({
  metadata: { uid: `uid of ${type}` },
  type,
  data: { [key]: base64(value) },
});

const SECRETS: Record<string, Secret> = {
  modern: secret("kubernetes.io/dockerconfigjson", ".dockerconfigjson", { auths: { "a.io": login } }),
  older: secret("kubernetes.io/dockercfg", ".dockercfg", { "b.io": login }),
  opaque: secret("Opaque", ".dockerconfigjson", { auths: { "c.io": login } }),
  broken: secret("kubernetes.io/dockerconfigjson", ".dockerconfigjson", "hidden-word"),
};

test("docker configurations of both types, in the pod's order; an unusable secret is missing", async () => {
  const { log, warnings } = keptLog();
  const cluster = {
    secrets: {
      get: (namespace: string, name: string) => {
        const found = SECRETS[name];
        assert.equal(namespace, "default");
        return found === undefined ? Promise.reject(notFound("secret", name)) : Promise.resolve(found);
      },
    },
  } as unknown as ClusterObjects;
  const secrets = new ClusterPullSecrets({ cluster: () => cluster, log, loop });
  const names = ["older", "none", "modern", "opaque", "broken", ""];
  const found = await secrets.forPod(pod({ imagePullSecrets: names.map((name) => ({ name })) }), never);
  assert.deepEqual(
    found.secrets.map(({ name, uid, auths }) => [name, uid, [...auths.keys()]]),
    [
      ["older", "uid of kubernetes.io/dockercfg", ["b.io"]],
      ["modern", "uid of kubernetes.io/dockerconfigjson", ["a.io"]],
      ["opaque", "uid of Opaque", []],
    ],
  );
  assert.deepEqual(found.missing, ["none", "broken"]);
  assert.match(warnings().join("\n"), /default\/none.*not found[^]*default\/broken.*not JSON/);
  assert.ok(!warnings().join().includes("hidden-word"));
});

test("before the kubelet has joined every secret is missing", async () => {
  const secrets = new ClusterPullSecrets({ cluster: () => undefined, log: keptLog().log, loop });
  const found = await secrets.forPod(pod({ imagePullSecrets: [{ name: "modern" }] }), never);
  assert.deepEqual(found, { secrets: [], missing: ["modern"] });
});

test("a secret that a pod names thousands of times, for many containers, is read once for each and parsed once", async () => {
  let [gets, parses] = [0, 0];
  const counted: Secret = { ...SECRETS["modern"], metadata: { uid: "u" } };
  const data = counted.data ?? {};
  Object.defineProperty(counted, "data", {
    get: () => {
      parses++;
      return data;
    },
  });
  const cluster = {
    secrets: {
      get: () => {
        gets++;
        return Promise.resolve(counted);
      },
    },
  } as unknown as ClusterObjects;
  const secrets = new ClusterPullSecrets({ cluster: () => cluster, log: keptLog().log, loop });
  const web = pod({ imagePullSecrets: Array.from({ length: 2000 }, () => ({ name: "modern" })) });
  for (let container = 0; container < 3; container++) {
    const found = await secrets.forPod(web, never);
    assert.deepEqual(
      found.secrets.map(({ auths }) => [...auths.keys()]),
      [["a.io"]],
    );
  }
  assert.deepEqual([gets, parses], [3, 1]);
});

test("of thousands of secrets sixteen are read at a time", async () => {
  let [running, most] = [0, 0];
  const get = async (_namespace: string, name: string): Promise<never> => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    throw notFound("secret", name);
  };
  const cluster = { secrets: { get } } as unknown as ClusterObjects;
  const secrets = new ClusterPullSecrets({ cluster: () => cluster, log: keptLog().log, loop });
  const names = Array.from({ length: 1000 }, (_, index) => `s${index}`);
  const found = await secrets.forPod(pod({ imagePullSecrets: names.map((name) => ({ name })) }), never);
  assert.deepEqual([found.missing, most], [names, 16]);
});

test("a pod with tens of thousands of secrets costs one warning, and a bounded number of reads", async () => {
  let gets = 0;
  const get = (_namespace: string, name: string): Promise<never> => {
    gets++;
    return Promise.reject(notFound("secret", name));
  };
  const { log, warnings } = keptLog();
  const secrets = new ClusterPullSecrets({ cluster: () => ({ secrets: { get } }) as never, log, loop });
  const names = Array.from({ length: 50_000 }, (_, index) => `s${index}`);
  const { missing } = await secrets.forPod(pod({ imagePullSecrets: names.map((name) => ({ name })) }), never);
  assert.deepEqual([missing.length, gets], [50_000, MOST_PULL_SECRETS]);
  assert.equal(warnings().length, 1);
  assert.match(warnings()[0] ?? "", /default\/s0: .*; and 1017 more$/);
  assert.ok((warnings()[0] ?? "").length < 2000);
});

test("containers of a pod that start together share the reads, also when the first one no longer starts", async () => {
  let gets = 0;
  let aborted = 0;
  const waiting: (() => void)[] = [];
  const get = (_namespace: string, _name: string, signal: AbortSignal): Promise<Secret> =>
    new Promise((resolve, reject) => {
      gets++;
      signal.addEventListener("abort", () => {
        aborted++;
        reject(new Error("aborted"));
      });
      waiting.push(() => resolve({ ...SECRETS["modern"], metadata: { uid: "u" } }));
    });
  const secrets = new ClusterPullSecrets({ cluster: () => ({ secrets: { get } }) as never, log: keptLog().log, loop });
  const web = pod({ imagePullSecrets: [{ name: "modern" }] });
  const first = new AbortController();
  const stopped = secrets.forPod(web, first.signal);
  const others = [secrets.forPod(web, never), secrets.forPod(web, never)];
  assert.equal(gets, 1);
  first.abort(new Error("the container no longer starts"));
  await assert.rejects(stopped, /no longer starts/);
  for (const answer of waiting) answer();
  for (const found of await Promise.all(others)) assert.equal(found.secrets.length, 1);
  assert.equal(gets, 1);
  const last = new AbortController();
  const left = secrets.forPod(web, last.signal);
  aborted = 0;
  last.abort(new Error("the pod is gone"));
  await assert.rejects(left, /the pod is gone/);
  assert.equal(aborted, 1, "no container needs the read any more");
});
