// Certificates of pods from the first request to the last renewal, with the API server and the signer played by the
// test.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PodCertificatesOnDemand } from "../../../../src/main/cluster/pod-certificates/pod-certificates-on-demand.js";
import { NodePodCertificates } from "../../../../src/main/cluster/pod-certificates/pod-certificates.js";
import { ApiError } from "../../../../src/shared/kubernetes/api/client/errors.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { until } from "../../../support/sources-kit.js";
import { certificatesKit, log, MINUTE, never, pass, podWith, settled, WATCH } from "./certificates-kit.js";

test("a request carries the pod's identity; its certificate is used, and watched until the last such pod is removed", async (t) => {
  const it = certificatesKit(t);
  const web = podWith({ maxExpirationSeconds: 7200, userAnnotations: { "example.com/a": "b" } });
  it.certificates.wanted(web);
  it.certificates.wanted(web);
  const waiting = it.certificates.get({ pod: web, volume: "v", index: 0 }, never);
  await settled();
  assert.deepEqual(it.created, [
    {
      apiVersion: "certificates.k8s.io/v1beta1",
      kind: "PodCertificateRequest",
      metadata: {
        namespace: "default",
        generateName: "req-",
        ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "web", uid: "uid-web" }],
      },
      spec: {
        signerName: "example.com/s",
        podName: "web",
        podUID: "uid-web",
        serviceAccountName: "robot",
        serviceAccountUID: "sa-uid",
        nodeName: "n1",
        nodeUID: "node-uid",
        maxExpirationSeconds: 7200,
        stubPKCS10Request: "CSR1",
        unverifiedUserAnnotations: { "example.com/a": "b" },
      },
    },
  ]);
  assert.deepEqual(it.live(), [`podcertificaterequests  ${WATCH}`]);
  it.replace(WATCH, it.issue(1, 0));
  const { key, chain } = await waiting;
  assert.deepEqual([key, chain.includes(Buffer.from("cert1").toString("base64"))], ["KEY1\n", true]);
  assert.deepEqual([it.changed, it.events], [["uid-web"], []]);
  assert.deepEqual(await it.states(), ["example.com/s fresh 1"]);
  it.certificates.podRemoved(podUid("uid-web"));
  await settled();
  assert.deepEqual([it.live(), it.clock.pending, await it.states()], [[], 0, []]);
  await assert.rejects(it.keyNow(web), /no credentials yet/);
});

test("an API server of 1.37 is asked by v1; after an upgrade its new version is found, and watched in place of the old one", async (t) => {
  const it = certificatesKit(t);
  const web = podWith({});
  it.certificates.wanted(web);
  await settled();
  it.say(it.issue(1, 0));
  assert.deepEqual(it.watchedVersions(), ["v1beta1"]);
  it.served.version = "v1";
  await pass(it.clock, 70);
  assert.deepEqual(
    it.created.map(({ apiVersion }) => apiVersion),
    ["certificates.k8s.io/v1beta1", "certificates.k8s.io/v1"],
  );
  assert.deepEqual(it.watchedVersions(), ["v1"]);
  it.say(it.issue(2, 70));
  await settled();
  assert.equal(await it.keyNow(web), "KEY2");
});

test("each source has its own; a response that arrives before its request's own is not lost", async (t) => {
  const it = certificatesKit(t);
  const web = podWith({}, { signerName: "example.com/t", keyType: "ECDSAP256" });
  it.certificates.wanted(web);
  await settled();
  assert.deepEqual(it.keys, ["ED25519", "ECDSAP256"]);
  it.say(it.issue(2, 0));
  await settled();
  assert.equal(await it.keyNow(web, 1), "KEY2");
  assert.deepEqual(it.changed, [], "its volume still lacks the other");
  it.say(it.issue(1, 0));
  assert.deepEqual(it.changed, ["uid-web"]);
  const other = { ...podWith({}), metadata: { ...podWith({}).metadata, uid: podUid("uid-2"), name: "two" } };
  it.onCreate(() => it.say(it.issue(3, 0)));
  it.certificates.wanted(other);
  await settled();
  assert.equal(await it.keyNow(other), "KEY3");
});

test("slow keys are made one at a time; the others do not wait for them", async (t) => {
  const it = certificatesKit(t);
  const begun: string[] = [];
  let finish = (): void => undefined;
  const makeKey = async (keyType: string) => {
    begun.push(keyType);
    if (keyType.startsWith("RSA")) await new Promise<void>((resolve) => (finish = resolve));
    return { key: "K", request: "R" };
  };
  const certificates = new NodePodCertificates({ ...it.deps, makeKey });
  t.after(() => certificates.stop());
  certificates.wanted(podWith({ keyType: "RSA4096" }, { keyType: "RSA3072" }, { keyType: "ED25519" }));
  await settled();
  assert.deepEqual([...begun].sort(), ["ED25519", "RSA4096"]);
  assert.equal(it.created.length, 1);
  finish();
  await settled();
  assert.equal(begun.at(-1), "RSA3072");
  finish();
});

test("renewed at its time; the old one stays meanwhile, and a late renewal is reported once", async (t) => {
  const it = certificatesKit(t);
  const web = podWith({});
  const made = (): number => it.created.length;
  it.certificates.wanted(web);
  await settled();
  it.say(it.issue(1, 0));
  await pass(it.clock, 59);
  assert.equal(made(), 1);
  await pass(it.clock, 2);
  assert.equal(made(), 2);
  await pass(it.clock, 8);
  assert.deepEqual([it.events, await it.keyNow(web)], [[], "KEY1"]);
  await pass(it.clock, 30);
  assert.deepEqual(it.events, [
    "CertificateOverdueForRefresh: PodCertificate refresh overdue",
    "CertificateExpired: PodCertificate expired",
  ]);
  assert.deepEqual([await it.keyNow(web), await it.states()], ["KEY1", ["example.com/s expired 1"]]);
  const last = made();
  assert.ok(last >= 3, "a request without a response for ten minutes was created again");
  it.say(it.issue(last, 100));
  assert.deepEqual([await it.keyNow(web), it.changed.length], [`KEY${last}`, 2]);
  await pass(it.clock, 10);
  assert.deepEqual([made(), await it.states()], [last, ["example.com/s fresh 1"]]);
});

test("a clock that jumps is seen at the next look", async (t) => {
  const it = certificatesKit(t);
  it.certificates.wanted(podWith({}));
  await settled();
  it.say(it.issue(1, 0));
  it.clock.jump(65 * MINUTE);
  await pass(it.clock, 2);
  assert.equal(it.created.length, 2);
});

for (const [type, verb] of [
  ["Denied", "was denied"],
  ["Failed", "failed"],
] as const) {
  test(`${type} is the end of it, at the first request as at a renewal`, async (t) => {
    const it = certificatesKit(t);
    const web = podWith({});
    const no = { conditions: [{ type, status: "True", reason: "UnsupportedKeyType", message: 'not "that"' }] };
    const logged = `${type}: UnsupportedKeyType: PodCertificateRequest default/req-1 ${verb}, reason="UnsupportedKeyType", message="not \\"that\\""`;
    const refusal = new RegExp(`was permanently ${type.toLowerCase()}: reason="UnsupportedKeyType" message="not`);
    it.certificates.wanted(web);
    await settled();
    it.say(it.request(1, no));
    await assert.rejects(it.keyNow(web), refusal);
    assert.deepEqual([it.events, it.changed], [[logged], ["uid-web"]]);
    await pass(it.clock, 60);
    assert.deepEqual([it.created.length, await it.states()], [1, [`example.com/s ${type.toLowerCase()} 1`]]);

    const two = certificatesKit(t);
    two.certificates.wanted(web);
    await settled();
    two.say(two.issue(1, 0));
    await pass(two.clock, 62);
    two.say(two.request(2, no));
    assert.deepEqual([two.events, two.changed.length], [[logged.replace("req-1", "req-2")], 2]);
    // A running pod may still start a container again.
    assert.deepEqual([await two.keyNow(web), await two.states()], ["KEY1", [`example.com/s ${type.toLowerCase()} 1`]]);
    await pass(two.clock, 90);
    assert.equal(two.created.length, 2);
  });
}

test("a failure is retried with the same key and growing delays, and reported to waiting callers", async (t) => {
  const it = certificatesKit(t);
  const web = podWith({});
  it.refusals.push(...Array.from({ length: 6 }, () => new ApiError(403, "Forbidden", "no relationship found")));
  it.certificates.wanted(web);
  await settled();
  const waiting = assert.rejects(
    it.keyNow(web),
    /^PodCertificateError: credential bundle is not issued yet: no relation/,
  );
  await settled();
  for (const ms of [100, 200, 400, 800]) {
    it.clock.step(ms - 1);
    await settled();
    const left = it.refusals.length;
    it.clock.step(1);
    await settled();
    assert.equal(it.refusals.length, left - 1);
  }
  it.clock.step(500);
  await waiting;
  for (const ms of [1100, 3200]) {
    it.clock.step(ms);
    await settled();
  }
  assert.deepEqual([it.created.length, it.keys.length], [1, 1]);
  // After a wait without success the source does not wait again.
  await assert.rejects(it.keyNow(web), /credential bundle is not issued yet$/);
  it.say(it.issue(1, 0));
  assert.equal(await it.keyNow(web), "KEY1");
});

test("an API server without the resource and an unknown key type are reported plainly", async (t) => {
  const it = certificatesKit(t);
  const rows: [Pod, Error | undefined, RegExp][] = [
    [
      podWith({}),
      new ApiError(404, "NotFound", "the server could not find the requested resource"),
      /does not serve podcert/,
    ],
    [
      podWith({}),
      new ApiError(404, "NotFound", 'namespaces "x" not found', { name: "x" }),
      /not issued yet: namespaces "x" not found$/,
    ],
    [podWith({ keyType: "ODD" }), undefined, /unknown key type "ODD"/],
  ];
  for (const [web, refusal, problem] of rows) {
    if (refusal !== undefined) it.refusals.push(refusal);
    it.certificates.wanted(web);
    await settled();
    const waiting = assert.rejects(it.keyNow(web), problem);
    if (refusal !== undefined) it.refusals.push(...Array.from({ length: 9 }, () => refusal));
    for (let step = 0; step < 20; step++) {
      await settled();
      it.clock.step(100);
    }
    await waiting;
    assert.deepEqual(it.live(), [], "nothing is followed");
    it.certificates.podRemoved(podUid("uid-web"));
    it.refusals.length = 0;
  }
});

test("a request that another client deletes is created again after a delay", async (t) => {
  const it = certificatesKit(t);
  it.certificates.wanted(podWith({}));
  await settled();
  for (const [index, ms] of [100, 200, 400].entries()) {
    it.event(WATCH, "DELETED", it.request(index + 1));
    await settled();
    it.clock.step(ms - 1);
    await settled();
    assert.equal(it.created.length, index + 1);
    it.clock.step(1);
    await settled();
    assert.equal(it.created.length, index + 2);
  }
  // Deleted with its answer in it.
  it.event(WATCH, "DELETED", it.issue(4, 0));
  assert.equal(await it.keyNow(podWith({})), "KEY4");
});

test("a terminating pod sends no further request", async (t) => {
  const it = certificatesKit(t);
  const web = podWith({});
  it.certificates.wanted(web);
  await settled();
  it.certificates.podRemoved(podUid("uid-web"));
  web.metadata.deletionTimestamp = "1970-01-01T00:00:00Z";
  it.certificates.wanted(web);
  await settled();
  assert.deepEqual([it.created.length, it.live()], [1, []]);
});

test("static pods are nothing to signers", async (t) => {
  const it = certificatesKit(t);
  const still = podWith({});
  still.metadata.annotations = { "kubernetes.io/config.source": "file" };
  it.certificates.wanted(still);
  await settled();
  assert.deepEqual(it.created, []);
  await assert.rejects(it.keyNow(still), /static pod/);
});

test("loaded with the first pod; a pod removed meanwhile is ignored", async (t) => {
  const it = certificatesKit(t);
  const lazy = new PodCertificatesOnDemand({ ...it.deps, registry: new ThreadRegistry("main") }, log);
  const [stays, goes] = [podWith({}), podWith({})];
  goes.metadata.uid = podUid("uid-goes");
  lazy.wanted(goes);
  lazy.wanted(stays);
  lazy.podRemoved(podUid("uid-goes"));
  const waiting = lazy.get({ pod: stays, volume: "v", index: 0 }, never);
  await until(() => it.live().length > 0);
  assert.deepEqual(
    it.created.map(({ spec }) => spec.podUID),
    ["uid-web"],
  );
  it.say(it.issue(1, 0));
  assert.equal((await waiting).key, "KEY1\n");
  await lazy.stop();
  await settled();
  assert.deepEqual([it.live(), it.clock.pending], [[], 0]);
  const off = new PodCertificatesOnDemand(undefined, log);
  off.wanted(stays);
  await assert.rejects(off.get({ pod: stays, volume: "v", index: 0 }, never), /feature gate PodCertificateRequest/);
});
