// Access of pods to an image on the node: policies, records on disk, and leftovers of a kubelet killed during a pull.
// @headline Images and logs | An image pulled with credentials needs them again. | also after a crash
// @promise Images and logs: An image pulled with credentials is not used without them, also after a crash during the
//   pull.
// @with test/integration/image-pull.test.ts

import assert from "node:assert/strict";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import fc from "fast-check";
import type { CredentialSource, ImageCredentials } from "../../../../src/main/containers/images/credentials.js";
import { pullRecordMetrics } from "../../../../src/main/containers/images/pull-records/metrics.js";
import { RecentRecords } from "../../../../src/main/containers/images/pull-records/recent-records.js";
import {
  intentText,
  readIntent,
  readRecord,
  recordName,
  recordText,
  withSource,
} from "../../../../src/main/containers/images/pull-records/record.js";
import { RecordedAccess } from "../../../../src/main/containers/images/pull-records/recorded-access.js";
import {
  verificationPolicy,
  type NeedsProof,
} from "../../../../src/main/containers/images/pull-records/verification-policy.js";
import { KeyedSerializer } from "../../../../src/shared/base/turns/keyed-serializer.js";
import { CriUnavailableError } from "../../../../src/shared/kubernetes/cri/errors.js";
import { AuthConfig } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import type { FakeCri } from "../../../fake-cri/fake-cri.js";
import { pair } from "../../../shared/kubernetes/cri/support.js";
import { pod as makePod } from "../../../support/pods.js";
import { noCredentials } from "../../../support/silent.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { build, BUSYBOX, never, REMOTE } from "./puller-kit.js";

const REF = "sha256:ref";
const none = (): Promise<CredentialSource[]> => Promise.resolve([]);
const secret = (name: string, credentialHash = "hash"): CredentialSource => {
  return { kind: "secret", uid: `uid-${name}`, namespace: "default", name, credentialHash };
};
const account = (name: string, uid = `uid-${name}`): CredentialSource => {
  return { kind: "serviceAccount", uid, namespace: "default", name };
};

test("policies: which images need proof", () => {
  const allowlist = ["registry.io/team/*", "busybox", "other.io/*"];
  const cases: [policy: Parameters<typeof verificationPolicy>[0], image: string, pulled: boolean, needs: boolean][] = [
    ["NeverVerify", "a", true, false],
    ["NeverVerifyPreloadedImages", "a", false, false],
    ["NeverVerifyPreloadedImages", "a", true, true],
    ["NeverVerifyAllowlistedImages", "registry.io/team/app:1", false, false],
    ["NeverVerifyAllowlistedImages", "registry.io/team/deep/app", false, false],
    ["NeverVerifyAllowlistedImages", "registry.io/teams/app", false, true],
    ["NeverVerifyAllowlistedImages", "docker.io/library/busybox:2", false, false],
    ["NeverVerifyAllowlistedImages", `other.io/x@sha256:${"0123456789abcdef".repeat(4)}`, false, false],
    ["NeverVerifyAllowlistedImages", "busybox", true, true],
    ["AlwaysVerify", "a", false, true],
  ];
  for (const [policy, image, pulled, needs] of cases) {
    assert.equal(verificationPolicy(policy, allowlist)(image, pulled), needs, `${policy} ${image} ${pulled}`);
  }
});

test("records are upstream's: names, words, versions", () => {
  assert.equal(
    recordName("docker.io/testing/test:something"),
    "sha256-f24acc752be18b93b0504c86312bbaf482c9efb0c45e925bbccb0a591cebd7af",
  );
  assert.equal(
    intentText({ image: "a:1" }),
    '{"kind":"ImagePullIntent","apiVersion":"kubelet.config.k8s.io/v1beta1","image":"a:1"}\n',
  );
  const record = { imageRef: REF, lastUpdatedTime: "2024-10-21T12:26:40Z", credentialMapping: { a: {} } };
  assert.equal(
    recordText(record),
    `{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1beta1","lastUpdatedTime":"2024-10-21T12:26:40Z","imageRef":"${REF}","credentialMapping":{"a":{}}}\n`,
  );
  const older = `{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1alpha1","lastUpdatedTime":"2024-10-21T12:26:40Z","imageRef":"${REF}"}`;
  assert.deepEqual(readRecord(older).credentialMapping, {});
});

test("a written record reads back for any names", () => {
  const text = fc.string({ minLength: 1 });
  const secrets = fc.array(fc.record({ uid: text, namespace: text, name: text, credentialHash: text }), {
    maxLength: 3,
  });
  const accounts = fc.array(fc.record({ uid: text, namespace: text, name: text }), { maxLength: 3 });
  const credentials = fc.oneof(
    fc.constant({ nodePodsAccessible: true }),
    fc.record({ kubernetesSecrets: secrets, kubernetesServiceAccounts: accounts }, { requiredKeys: [] }),
  );
  fc.assert(
    fc.property(text, fc.dictionary(text, credentials), (imageRef, credentialMapping) => {
      const record = { imageRef, lastUpdatedTime: "2026-01-01T00:00:00Z", credentialMapping };
      assert.deepEqual(plain(readRecord(recordText(record))), plain(record));
      assert.deepEqual(readIntent(intentText({ image: imageRef })), { image: imageRef });
    }),
  );
});

/** Without the prototypes that the generator gives its objects. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

test("a damaged file is reported, never thrown at random", () => {
  const head = '"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1beta1"';
  for (const text of [
    "",
    "[]",
    "{}",
    `{"kind":"ImagePulledRecord","apiVersion":"v9","imageRef":"a","lastUpdatedTime":"2026-01-01T00:00:00Z"}`,
    `{${head},"lastUpdatedTime":"2026-01-01T00:00:00Z"}`,
    `{${head},"imageRef":"a","lastUpdatedTime":"yesterday"}`,
    `{${head},"imageRef":"a","lastUpdatedTime":"2026-01-01T00:00:00Z","credentialMapping":[]}`,
    `{${head},"imageRef":"a","lastUpdatedTime":"2026-01-01T00:00:00Z","credentialMapping":{"a":{"kubernetesSecrets":[{}]}}}`,
    `{${head},"imageRef":"a","lastUpdatedTime":"2026-01-01T00:00:00Z","credentialMapping":{"a":{"kubernetesServiceAccounts":[{"uid":"u","name":"n"}]}}}`,
    `{${head},"imageRef":"a","lastUpdatedTime":"2026-01-01T00:00:00Z","credentialMapping":{"a":{"kubernetesServiceAccounts":{}}}}`,
  ]) {
    assert.throws(() => readRecord(text), { name: "PullRecordError" }, text);
    assert.throws(() => readIntent(text), { name: "PullRecordError" }, text);
  }
});

test("secrets of a record: one entry each, the newest hundred; the node's access swallows them", () => {
  let known = withSource(undefined, secret("a", "old"));
  known = withSource(known, secret("a", "new"));
  assert.deepEqual(
    known.kubernetesSecrets?.map(({ credentialHash }) => credentialHash),
    ["new"],
  );
  for (let i = 0; i < 150; i++) known = withSource(known, secret(`s${i}`));
  assert.equal(known.kubernetesSecrets?.length, 100);
  assert.deepEqual(withSource(known, { kind: "node" }), { nodePodsAccessible: true });
  assert.deepEqual(withSource({ nodePodsAccessible: true }, secret("a")), { nodePodsAccessible: true });
});

test("service accounts of a record stand beside its secrets: one entry each, the newest hundred", () => {
  const withSecret = withSource(undefined, secret("a"));
  const both = withSource(withSecret, account("robot"));
  assert.deepEqual(both, {
    kubernetesSecrets: [{ uid: "uid-a", namespace: "default", name: "a", credentialHash: "hash" }],
    kubernetesServiceAccounts: [{ uid: "uid-robot", namespace: "default", name: "robot" }],
  });
  assert.equal(withSource(both, account("robot")), both);
  assert.equal(withSource(both, secret("a")), both);
  assert.equal(withSource(both, account("robot", "made anew")).kubernetesServiceAccounts?.length, 2);
  let many: ReturnType<typeof withSource> = both;
  for (let i = 0; i < 150; i++) many = withSource(many, account(`s${i}`));
  assert.equal(many.kubernetesServiceAccounts?.length, 100);
  assert.deepEqual(many.kubernetesSecrets, both.kubernetesSecrets);
  assert.deepEqual(withSource(both, undefined), { nodePodsAccessible: true });
});

test("an image that came with a service account's token is for pods of that account", async (t) => {
  const { access, root } = await world(t);
  await access.pulling("a:1");
  await access.pulled("a:1", REF, account("robot"));
  const text = await readFile(join(root, "image_manager", "pulled", recordName(REF)), "utf8");
  assert.match(
    text,
    /"a":\{"kubernetesServiceAccounts":\[\{"uid":"uid-robot","namespace":"default","name":"robot"\}\]\}/,
  );
  const asked: string[] = [];
  const needsProof = (...sources: CredentialSource[]) =>
    access.mustProve("a:1", REF, (kind) => {
      asked.push(kind);
      return Promise.resolve(sources);
    });
  assert.equal(await needsProof(account("robot")), false);
  assert.equal(await needsProof(account("other")), true);
  assert.equal(await needsProof(account("robot", "made anew")), true, "another account of that name");
  assert.equal(await needsProof({ kind: "node" }, secret("robot")), true);
  assert.equal(await needsProof(), true);
  assert.deepEqual(new Set(asked), new Set(["serviceAccount"]), "no secret is read for nothing");
  await access.pulled("a:1", REF, secret("pull"));
  asked.length = 0;
  assert.equal(await needsProof(secret("pull")), false);
  assert.deepEqual(asked, ["secret"], "no plugin is run for nothing");
});

const PRELOADED_OPEN = verificationPolicy("NeverVerifyPreloadedImages", []);

interface World {
  access: RecordedAccess;
  fake: FakeCri;
  root: string;
  registry: ThreadRegistry;
  kept: ReturnType<typeof keptLog>;
  /** Another kubelet on the same root. */
  again: () => RecordedAccess;
  files: (kind: "pulling" | "pulled") => Promise<string[]>;
}

async function world(t: TestContext, needsProof: NeedsProof = PRELOADED_OPEN): Promise<World> {
  const { fake, client: cri } = await pair(t);
  const root = await temporaryFolder(t);
  const kept = keptLog();
  const registry = new ThreadRegistry("main");
  const again = () => {
    const metrics = pullRecordMetrics(registry);
    return new RecordedAccess({
      rootDir: root,
      needsProof,
      recordsInMemory: 10,
      cri,
      clock: new SteppedClock(),
      log: kept.log,
      metrics,
    });
  };
  const files = async (kind: string) => (await readdir(join(root, "image_manager", kind))).sort();
  return { access: again(), fake, root, registry, kept, again, files };
}

test("an intent exists during a pull, a record after it", async (t) => {
  const { access, files, root } = await world(t);
  await access.pulling("a:1");
  await access.pulling("a:1");
  assert.deepEqual(await files("pulling"), [recordName("a:1")]);
  assert.equal((await stat(join(root, "image_manager", "pulling"))).mode & 0o777, 0o700);
  await access.failed("a:1");
  assert.deepEqual(await files("pulling"), [recordName("a:1")], "the other pull continues");
  await access.pulled("a:1", REF, undefined);
  assert.deepEqual(await files("pulling"), []);
  assert.deepEqual(await files("pulled"), [recordName(REF)]);
  const text = await readFile(join(root, "image_manager", "pulled", recordName(REF)), "utf8");
  assert.deepEqual(readRecord(text), {
    imageRef: REF,
    lastUpdatedTime: "1970-01-01T00:00:00Z",
    credentialMapping: { a: { nodePodsAccessible: true } },
  });
});

test("every pod may use a preloaded image; one pulled with a secret is for pods that have the secret or an equal one", async (t) => {
  const { access, registry } = await world(t);
  assert.equal(await access.mustProve("a:1", REF, none), false);
  await access.pulling("a:1");
  assert.equal(await access.mustProve("a:1", REF, none), true, "under way: nobody knows whose it will be");
  await access.pulled("a:1", REF, secret("pull"));
  const has = (...sources: CredentialSource[]) => access.mustProve("a:1", REF, () => Promise.resolve(sources));
  assert.equal(await has(), true);
  assert.equal(await has({ kind: "node" }), true);
  assert.equal(await has(secret("stranger", "other")), true);
  assert.equal(await has(secret("stranger", "other"), secret("pull")), false);
  assert.equal(await has(secret("pull", "rotated")), false, "the same secret, whatever it holds now");
  assert.equal(await has(secret("copy", "rotated")), false, "the same credentials, whatever secret holds them");
  assert.equal(await has(secret("copy", "changed")), false, "by now a secret of its own on record");
  assert.equal(await access.mustProve("b:1", REF, none), true, "another name of the image");
  await access.pulled("a:2", REF, { kind: "node" });
  assert.equal(await has(), false);
  const { families } = await registry.exportSnapshot();
  const result = families.find(({ name }) => name === "kubelet_imagemanager_image_mustpull_checks_total");
  assert.deepEqual(Object.fromEntries(result?.samples.map(({ labels, value }) => [labels["result"], value]) ?? []), {
    credentialPolicyAllowed: 1,
    mustAuthenticate: 5,
    credentialRecordFound: 5,
  });
  const value = (name: string) =>
    families.find((family) => family.name === `kubelet_imagemanager_${name}`)?.samples[0]?.value;
  assert.equal(value("ondisk_pulledrecords"), 1);
  assert.equal(value("ondisk_pullintents"), 0);
  assert.equal(value("inmemory_pulledrecords_usage_percent"), 10);
});

test("records outlive the kubelet; the next kubelet verifies images with intents, and removed images remove their records", async (t) => {
  const { access, again, fake, files, kept } = await world(t);
  const add = (reference: string): string => {
    fake.addImage(reference);
    return fake.state.image(reference)?.id ?? "";
  };
  const [whole, half] = [add("whole:1"), add("half:1")];
  await access.pulling("whole:1");
  await access.pulled("whole:1", whole, { kind: "node" });
  await access.pulling("half:1");
  await access.pulling("never-came:1");
  await access.pulling("gone:1");
  await access.pulled("gone:1", "sha256:gone", undefined);
  const next = again();
  assert.equal(await next.mustProve("whole:1", whole, none), false);
  assert.equal(await next.mustProve("half:1", half, none), true);
  assert.deepEqual(await files("pulling"), [recordName("never-came:1")], "the runtime may still bring it");
  assert.deepEqual(await files("pulled"), [recordName(whole), recordName(half)].sort());
  assert.ok(
    kept.lines.some(({ msg }) => msg.includes('image "half:1" comes from a pull that a previous kubelet started')),
  );
});

test("records of removed images are removed while the kubelet runs", async (t) => {
  const { access, fake, files } = await world(t);
  fake.addImage("kept:1");
  await access.pulled("kept:1", fake.state.image("kept:1")?.id ?? "", undefined);
  for (let i = 1; i < 49; i++) await access.pulled("gone:1", `sha256:gone${i}`, undefined);
  assert.equal((await files("pulled")).length, 49);
  await access.pulled("gone:1", "sha256:gone", undefined);
  assert.equal((await files("pulled")).length, 1);
  assert.equal(await access.mustProve("gone:1", "sha256:gone48", none), false, "nothing of it is in memory either");
});

test("a runtime that is unreachable when the kubelet starts is called again", async (t) => {
  const { access, again, fake } = await world(t);
  await access.pulling("a:1");
  const next = again();
  fake.failpoint("ImageStatus", "1*error(UNAVAILABLE: restarting)");
  await assert.rejects(next.mustProve("a:1", REF, none), CriUnavailableError);
  assert.equal(await next.mustProve("a:1", REF, none), true);
});

test("half-written files are removed at the start", async (t) => {
  const { access, root, files } = await world(t);
  const folder = join(root, "image_manager", "pulled");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, ".tmp-x"), "half");
  assert.equal(await access.mustProve("a:1", REF, none), false);
  assert.deepEqual(await files("pulled"), []);
});

test("the puller: a pod without the credentials can't use a present image, Never included", async (t) => {
  const { access, files } = await world(t, verificationPolicy("AlwaysVerify", []));
  const good = { auth: AuthConfig.fromPartial({ username: "good" }), source: { kind: "node" } as const };
  const bad = { auth: AuthConfig.fromPartial({ username: "bad" }), source: { kind: "node" } as const };
  let offered: (typeof good)[] = [];
  const credentials: ImageCredentials = { ...noCredentials, forImage: () => Promise.resolve(offered) };
  const { fake, events, ensure, pulls, clock } = await build(t, { access, credentials });
  await assert.rejects(ensure(BUSYBOX, "Never"), { reason: "ErrImageNeverPull" });
  fake.failpoint("PullImage", "1*error(UNKNOWN: pull access denied)->1*error(UNKNOWN: 401 bad)->off");
  await assert.rejects(ensure(BUSYBOX, "IfNotPresent"), { reason: "ErrImagePull", message: "pull access denied" });
  assert.equal(pulls(), 1, "anonymous, as there are no credentials");
  clock.step(10_000);
  offered = [bad, good];
  await ensure(BUSYBOX, "IfNotPresent");
  const tried = fake.calls
    .filter(({ verb }) => verb === "PullImage")
    .map(({ request }) => (request as { auth?: AuthConfig }).auth?.username);
  assert.deepEqual(tried, [undefined, "bad", "good"]);
  offered = [];
  await ensure(BUSYBOX, "Never", makePod({}, "other"));
  assert.equal(
    events.at(-1),
    `other/app Normal Pulled: Container image "${BUSYBOX}" already present on machine and can be accessed by the pod`,
  );
  assert.deepEqual(await files("pulling"), []);
  fake.failpoint("PullImage", "1*error(UNKNOWN: first)->1*error(UNKNOWN: second)");
  offered = [bad, good];
  await assert.rejects(ensure(REMOTE, "Always"), { reason: "ErrImagePull", message: "[first, second]" });
});

test("a pull whose intent can't be written is no pull", async (t) => {
  const { access, root } = await world(t);
  await mkdir(join(root, "image_manager", "pulling", recordName(REMOTE)), { recursive: true });
  const { ensure, pulls } = await build(t, { access });
  await assert.rejects(ensure(REMOTE, "Always"), { reason: "ErrImagePull" });
  assert.equal(pulls(), 0);
});

test("turns by key, and the records used last", async () => {
  const turns = new KeyedSerializer();
  const order: string[] = [];
  const slow = async (name: string) => {
    await new Promise((resolve) => setImmediate(resolve));
    order.push(name);
    if (name === "a1") throw new Error("a1 failed");
  };
  const all = [turns.run("a", () => slow("a1")), turns.run("a", () => slow("a2")), turns.run("b", () => slow("b1"))];
  const outcomes = await Promise.allSettled(all);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["rejected", "fulfilled", "fulfilled"],
  );
  assert.ok(order.indexOf("a1") < order.indexOf("a2") && order.indexOf("b1") < order.indexOf("a2"));
  const recent = new RecentRecords(2);
  const record = (imageRef: string) => ({ imageRef, lastUpdatedTime: "", credentialMapping: {} });
  for (const ref of ["a", "b", "a", "c"]) recent.set(record(ref));
  assert.deepEqual(
    ["a", "b", "c"].map((ref) => recent.get(ref) !== undefined),
    [true, false, true],
  );
  await turns.run("a", () => Promise.resolve(never));
});
