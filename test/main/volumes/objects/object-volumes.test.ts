// Volumes made of API objects, on a real disk: contents, modes, owners, and their updates in place.

import assert from "node:assert/strict";
import { lstatSync, readFileSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { UnsupportedVolumeError } from "../../../../src/main/volumes/errors.js";
import { createVolumeManager } from "../../../../src/main/volumes/volume-manager.js";
import type { PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import type { Volume, VolumeProjection } from "../../../../src/shared/kubernetes/api/volume.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import {
  hostPathOf,
  isRoot,
  keptEvents,
  manager,
  mountsBelow,
  never,
  options,
  podWith,
  temporaryRoot,
} from "../temporary-root.js";
import { base64, clusterKit } from "./cluster-kit.js";

const skip = isRoot ? false : "needs root";
const GROUP = 4711;

async function world(t: TestContext) {
  const root = await temporaryRoot(t);
  const kit = clusterKit();
  const clock = new SteppedClock();
  const events = keptEvents();
  const again = () => createVolumeManager({ ...options(root), clock, events }, () => kit.objects);
  const volumes = again();
  const setUp = async (volume: Volume, spec: Partial<PodSpec> = {}, uid = "uid-1"): Promise<string> =>
    hostPathOf(await volumes.setUpPod(podWith([volume], spec, uid), never), volume.name);
  return { ...kit, root, clock, events: events.seen, volumes, setUp, again };
}

const read = (directory: string): Record<string, string> => {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => !name.startsWith("..") && statSync(`${directory}/${name}`).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(`${directory}/${name}`, "latin1")]));
};
/** "mode uid gid" in octal and decimal, links followed. */
const stat = (path: string): string => {
  const { mode, uid, gid } = statSync(path);
  return `${(mode & 0o7777).toString(8)} ${uid} ${gid}`;
};

test("configMap: all keys or chosen ones, on the node's disk", { skip }, async (t) => {
  const { configMaps, setUp, root } = await world(t);
  configMaps.set("cm", {
    metadata: {},
    data: { "a.conf": "A", b: "B" },
    binaryData: { bin: base64(Uint8Array.of(0, 255)) },
  });
  const all = await setUp({ name: "all", configMap: { name: "cm", defaultMode: 0o440 } });
  assert.ok(all.endsWith("/pods/uid-1/volumes/kubernetes.io~configmap/all"));
  assert.deepEqual(read(all), { "a.conf": "A", b: "B", bin: "\x00\xff" });
  assert.deepEqual([stat(all), stat(`${all}/b`)], ["777 0 0", "440 0 0"]);
  assert.equal(readlinkSync(`${all}/b`), "..data/b");
  assert.ok(lstatSync(`${all}/..data`).isSymbolicLink());
  const items = [
    { key: "b", path: "deep/er/b", mode: 0o600 },
    { key: "bin", path: "x" },
  ];
  const chosen = await setUp({ name: "some", configMap: { name: "cm", items } }, {}, "uid-2");
  assert.deepEqual(read(chosen), { "deep/er/b": "B", x: "\x00\xff" });
  assert.deepEqual(
    [stat(`${chosen}/deep/er/b`), stat(`${chosen}/x`), stat(`${chosen}/deep`)],
    ["600 0 0", "644 0 0", "755 0 0"],
  );
  assert.deepEqual(mountsBelow(root), []);
});

test("secret: decoded, in memory, removed with the pod", { skip }, async (t) => {
  const { secrets, setUp, root, volumes } = await world(t);
  secrets.set("s", { metadata: {}, data: { password: base64("p\xe4ss") } });
  const directory = await setUp({ name: "s", secret: { secretName: "s" } });
  assert.ok(directory.endsWith("/pods/uid-1/volumes/kubernetes.io~secret/s"));
  assert.equal(readFileSync(`${directory}/password`, "utf8"), "p\xe4ss");
  assert.deepEqual([stat(directory), mountsBelow(root)], ["1777 0 0", [directory]]);
  await volumes.removePodDirectory(podUid("uid-1"));
  assert.deepEqual([mountsBelow(root), readdirSync(`${root}/pods`)], [[], []]);
});

test(
  "optional objects and keys may be missing; others keep the pod waiting, in upstream's words",
  { skip },
  async (t) => {
    const { configMaps, secrets, setUp, clock, volumes, events, root } = await world(t);
    configMaps.set("cm", { metadata: {}, data: { a: "A" } });
    secrets.set("s", { metadata: {}, data: { a: base64("A") } });
    const items = [
      { key: "a", path: "a" },
      { key: "no", path: "no" },
    ];
    assert.deepEqual(read(await setUp({ name: "v", configMap: { name: "no", optional: true } }, {}, "u1")), {});
    assert.deepEqual(read(await setUp({ name: "v", secret: { secretName: "no", optional: true } }, {}, "u2")), {});
    assert.deepEqual(read(await setUp({ name: "v", configMap: { name: "cm", items, optional: true } }, {}, "u3")), {
      a: "A",
    });
    const rows: [Volume, string][] = [
      [{ name: "v", configMap: { name: "no" } }, 'configmap "no" not found'],
      [{ name: "v", secret: { secretName: "no" } }, 'secret "no" not found'],
      [{ name: "v", configMap: { name: "cm", items } }, "configmap references non-existent config key: no"],
      [{ name: "v", secret: { secretName: "s", items } }, "references non-existent secret key: no"],
    ];
    for (const [index, [volume, problem]] of rows.entries()) {
      events.length = 0;
      const abort = new AbortController();
      const pod = podWith([volume], {}, `bad-${index}`);
      const waiting = assert.rejects(volumes.setUpPod(pod, abort.signal));
      await until("the event", () => events.length > 0);
      assert.equal(events[0]?.message, `MountVolume.SetUp failed for volume "v" : ${problem}`);
      abort.abort(new Error("enough"));
      await waiting;
      assert.deepEqual(mountsBelow(`${root}/pods/bad-${index}`), [], "nothing is mounted before the content is known");
    }
    assert.ok(clock.pending >= 0);
  },
);

test("a volume that a pod waits for is tried at once after a change", { skip }, async (t) => {
  const { configMaps, volumes, events, clock } = await world(t);
  const setUp = volumes.setUpPod(podWith([{ name: "v", configMap: { name: "late" } }]), never);
  for (const [tries, delayMs] of [500, 1000, 2000].entries()) {
    await until("a failure", () => events.length === tries + 1 && clock.pending === 3);
    clock.step(delayMs);
  }
  await until("the fourth failure", () => events.length === 4 && clock.pending === 3);
  configMaps.set("late", { metadata: {}, data: { a: "A" } });
  volumes.refreshPod(podUid("uid-1"));
  assert.deepEqual(read(hostPathOf(await setUp, "v")), { a: "A" });
  await volumes.stop();
});

test("an update appears in place: all of it at once, and nothing is touched without one", { skip }, async (t) => {
  const { configMaps, setUp, clock, volumes } = await world(t);
  configMaps.set("cm", { metadata: {}, data: { a: "1", b: "1" } });
  const directory = await setUp({ name: "v", configMap: { name: "cm" } });
  const data = readlinkSync(`${directory}/..data`);
  clock.step(60_000);
  await until("the look", () => clock.pending === 1);
  assert.equal(readlinkSync(`${directory}/..data`), data);
  configMaps.set("cm", { metadata: {}, data: { a: "2", c: "2" } });
  clock.step(44_999);
  assert.equal(readlinkSync(`${directory}/..data`), data);
  clock.step(15_001);
  await until("the update", () => readlinkSync(`${directory}/..data`) !== data && clock.pending === 1);
  assert.deepEqual(read(directory), { a: "2", c: "2" });
  configMaps.set("cm", { metadata: {}, data: { a: "3" } });
  volumes.refreshPod(podUid("uid-1"));
  clock.step(0);
  await until("the change", () => clock.pending === 1);
  assert.deepEqual(read(directory), { a: "3" });
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.startsWith("..2") || name.startsWith("..1")).length,
    1,
    "older files are gone",
  );
  await volumes.stop();
  assert.equal(clock.pending, 0);
});

test("a failed update is reported, leaves the files as they are, and is retried soon", { skip }, async (t) => {
  const { secrets, setUp, clock, volumes, events } = await world(t);
  secrets.set("s", { metadata: {}, data: { a: base64("1") } });
  const directory = await setUp({ name: "v", secret: { secretName: "s" } });
  secrets.delete("s");
  volumes.refreshPod(podUid("uid-1"));
  clock.step(0);
  await until("the failure", () => clock.pending === 1);
  assert.equal(events[0]?.message, 'MountVolume.SetUp failed for volume "v" : secret "s" not found');
  assert.deepEqual(read(directory), { a: "1" });
  secrets.set("s", { metadata: {}, data: { a: base64("2") } });
  clock.step(2000);
  await until("the update", () => clock.pending === 1);
  assert.deepEqual(read(directory), { a: "2" });
  await volumes.tearDownPod(podUid("uid-1"));
  assert.equal(clock.pending, 0, "a removed pod is not inspected");
});

test("a restarted container finds its files after its ConfigMap was removed", { skip }, async (t) => {
  const { configMaps, setUp, volumes } = await world(t);
  configMaps.set("cm", { metadata: {}, data: { a: "A" } });
  const volume = { name: "files", configMap: { name: "cm" } };
  const directory = await setUp(volume);
  configMaps.delete("cm");
  assert.equal(await setUp(volume), directory);
  assert.deepEqual(read(directory), { a: "A" });
  t.after(() => volumes.stop());
});

test("a restarted kubelet updates running pods' volumes without a start of the pods", { skip }, async (t) => {
  const { secrets, setUp, clock, volumes, again } = await world(t);
  secrets.set("s", { metadata: {}, data: { a: base64("1") } });
  const volume = { name: "v", secret: { secretName: "s" } };
  const directory = await setUp(volume);
  await volumes.stop();
  secrets.set("s", { metadata: {}, data: { a: base64("2") } });
  const next = again();
  next.podChanged(podWith([volume]), true);
  clock.step(15_000);
  await until("the update", () => clock.pending === 1);
  assert.deepEqual(read(directory), { a: "2" });
  await next.stop();
});

test("downwardAPI follows the pod's definition, without an API server too", { skip }, async (t) => {
  const root = await temporaryRoot(t);
  const clock = new SteppedClock();
  const volumes = manager(root, { clock });
  const items = [
    { path: "labels", fieldRef: { fieldPath: "metadata.labels" } },
    { path: "cpu", resourceFieldRef: { containerName: "main", resource: "limits.cpu", divisor: "1m" }, mode: 0o400 },
  ];
  const pod = podWith([{ name: "v", downwardAPI: { items } }]);
  const labelled = (labels: Record<string, string>) => ({ ...pod, metadata: { ...pod.metadata, labels } });
  const directory = hostPathOf(await volumes.setUpPod(labelled({ b: "2", a: "1" }), never), "v");
  assert.deepEqual(read(directory), { labels: 'a="1"\nb="2"', cpu: "4000" });
  assert.deepEqual([stat(`${directory}/cpu`), mountsBelow(root)], ["400 0 0", [directory]]);
  volumes.podChanged(labelled({ a: "new" }));
  clock.step(0);
  await until("the update", () => clock.pending === 1);
  assert.equal(read(directory)["labels"], 'a="new"');
  await volumes.stop();
});

test("a pod's deletion does not bring its volumes up to date", { skip }, async (t) => {
  const root = await temporaryRoot(t);
  const clock = new SteppedClock();
  const volumes = manager(root, { clock });
  const items = [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }];
  const pod = podWith([{ name: "v", downwardAPI: { items } }]);
  const changed = (labels: Record<string, string>, deletionTimestamp?: string) => ({
    ...pod,
    metadata: { ...pod.metadata, labels, ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
  });
  const directory = hostPathOf(await volumes.setUpPod(changed({ a: "1" }), never), "v");
  volumes.podChanged(changed({ a: "2" }, "2026-11-25T00:00:00Z"));
  clock.step(0);
  assert.equal(clock.pending, 1, "the periodic update");
  assert.equal(read(directory)["labels"], 'a="1"');
  await volumes.stop();
});

test("projected: every source in one directory; a pod reaches the API server by one", { skip }, async (t) => {
  const { configMaps, secrets, anchors, tokens, setUp, root } = await world(t);
  configMaps.set("kube-root-ca.crt", { metadata: {}, data: { "ca.crt": "CA" } });
  secrets.set("s", { metadata: {}, data: { user: base64("u"), pass: base64("p") } });
  tokens.set("vault", "vault-token");
  anchors.set("bundle", "ANCHORS");
  const sources: VolumeProjection[] = [
    { serviceAccountToken: { path: "token", expirationSeconds: 3607 } },
    { serviceAccountToken: { path: "vault/token", audience: "vault" } },
    { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
    {
      downwardAPI: { items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }] },
    },
    { secret: { name: "s", items: [{ key: "user", path: "login/user" }] } },
    { secret: { name: "none", optional: true } },
    { clusterTrustBundle: { name: "bundle", path: "anchors.pem" } },
  ];
  const directory = await setUp({ name: "kube-api-access-x", projected: { sources, defaultMode: 0o644 } });
  assert.deepEqual(read(directory), {
    token: "token",
    "vault/token": "vault-token",
    "ca.crt": "CA",
    namespace: "default",
    "login/user": "u",
    "anchors.pem": "ANCHORS",
  });
  assert.deepEqual(
    [stat(directory), stat(`${directory}/token`), mountsBelow(root)],
    ["1777 0 0", "644 0 0", [directory]],
  );
});

test("projected: all problems are reported at once", { skip }, async (t) => {
  const { volumes, events, tokens } = await world(t);
  tokens.clear();
  const sources: VolumeProjection[] = [
    { configMap: { name: "no" } },
    { serviceAccountToken: { path: "token" } },
    { clusterTrustBundle: { path: "x" } },
    { podCertificate: { signerName: "example.com/s", keyType: "ED25519", keyPath: "k" } },
  ];
  const abort = new AbortController();
  const waiting = assert.rejects(volumes.setUpPod(podWith([{ name: "v", projected: { sources } }]), abort.signal));
  await until("the event", () => events.length > 0);
  assert.match(
    events[0]?.message ?? "",
    /: \[configmap "no" not found, failed to fetch token: away, ClusterTrustBundle projection requires either name or signerName to be set, credential bundle is not issued yet\]$/,
  );
  abort.abort(new Error("enough"));
  await waiting;
});

test("projected: a repeated problem is reported once", { skip }, async (t) => {
  const { volumes, events } = await world(t);
  const abort = new AbortController();
  const podCertificate = { signerName: "example.com/s", keyType: "ED25519", keyPath: "k" };
  const sources = [{ podCertificate }, { podCertificate: { ...podCertificate, keyPath: "l" } }];
  const waiting = assert.rejects(volumes.setUpPod(podWith([{ name: "v", projected: { sources } }]), abort.signal));
  await until("the event", () => events.length > 0);
  assert.match(events[0]?.message ?? "", / : credential bundle is not issued yet$/);
  abort.abort(new Error("enough"));
  await waiting;
});

test("projected: a pod's certificate where it is wanted, and its successor in place", { skip }, async (t) => {
  const { credentials, setUp, volumes, clock } = await world(t);
  const ask = { signerName: "example.com/s", keyType: "ED25519" };
  const sources: VolumeProjection[] = [
    { podCertificate: { ...ask, credentialBundlePath: "all.pem" } },
    { podCertificate: { ...ask, keyPath: "tls/key", certificateChainPath: "tls/chain", credentialBundlePath: "" } },
  ];
  credentials.set("v/0", { key: "K0\n", chain: "C0\n" }).set("v/1", { key: "K1\n", chain: "C1\n" });
  const directory = await setUp({ name: "v", projected: { sources } }, { securityContext: { runAsUser: 1000 } });
  assert.deepEqual(read(directory), { "all.pem": "K0\nC0\n", "tls/key": "K1\n", "tls/chain": "C1\n" });
  assert.deepEqual(
    ["all.pem", "tls/key", "tls/chain"].map((name) => stat(`${directory}/${name}`)),
    Array(3).fill("600 1000 0"),
  );
  credentials.set("v/1", { key: "K2\n", chain: "C2\n" });
  volumes.refreshPod(podUid("uid-1"));
  await until("the next credential", () => {
    clock.step(1);
    // One file only: the names beside it come and go while the writer is at work.
    return readFileSync(`${directory}/tls/key`, "utf8") === "K2\n";
  });
  assert.equal(readFileSync(`${directory}/tls/chain`, "utf8"), "C2\n");
});

test("access to a token: all users, or the pod's own user or group", { skip }, async (t) => {
  const { setUp } = await world(t);
  const container = (runAsUser?: number) => ({
    name: `c${runAsUser}`,
    volumeMounts: [{ name: "v", mountPath: "/v" }],
    ...(runAsUser !== undefined && { securityContext: { runAsUser } }),
  });
  const rows: [what: string, spec: Partial<PodSpec>, token: string, directory: string][] = [
    ["nobody in particular", {}, "644 0 0", "1777 0 0"],
    ["one user", { securityContext: { runAsUser: 1000 } }, "600 1000 0", "1777 0 0"],
    ["a group", { securityContext: { fsGroup: GROUP } }, `640 0 ${GROUP}`, `3777 0 ${GROUP}`],
    ["both", { securityContext: { runAsUser: 1000, fsGroup: GROUP } }, `640 1000 ${GROUP}`, `3777 0 ${GROUP}`],
    ["two users", { containers: [container(1000), container(1001)] }, "644 0 0", "1777 0 0"],
    ["one without", { containers: [container(1000), container()] }, "644 0 0", "1777 0 0"],
    ["the same in all", { containers: [container(7)], initContainers: [container(7)] }, "600 7 0", "1777 0 0"],
  ];
  for (const [index, [what, spec, token, own]] of rows.entries()) {
    const sources = [{ serviceAccountToken: { path: "token" } }];
    const directory = await setUp({ name: "v", projected: { sources } }, spec, `uid-${index}`);
    assert.equal(stat(`${directory}/token`), token, what);
    assert.equal(stat(directory), own, what);
  }
});

test("fsGroup: the group may read files and updated files, with every policy", { skip }, async (t) => {
  const { configMaps, setUp, volumes, clock } = await world(t);
  configMaps.set("cm", { metadata: {}, data: { a: "1" } });
  const spec: Partial<PodSpec> = { securityContext: { fsGroup: GROUP, fsGroupChangePolicy: "OnRootMismatch" } };
  const directory = await setUp({ name: "v", configMap: { name: "cm", defaultMode: 0o400 } }, spec);
  assert.equal(stat(`${directory}/a`), `440 0 ${GROUP}`);
  configMaps.set("cm", { metadata: {}, data: { a: "2" } });
  volumes.refreshPod(podUid("uid-1"));
  clock.step(0);
  await until("the update", () => clock.pending === 1);
  assert.deepEqual([read(directory), stat(`${directory}/a`)], [{ a: "2" }, `440 0 ${GROUP}`]);
  await volumes.stop();
});

test("directories for volumes that are mounted inside", { skip }, async (t) => {
  const { configMaps, volumes } = await world(t);
  configMaps.set("cm", { metadata: {}, data: { a: "1" } });
  const pod = podWith([
    { name: "v", configMap: { name: "cm" } },
    { name: "w", emptyDir: {} },
  ]);
  pod.spec.containers = [
    {
      name: "main",
      volumeMounts: [
        { name: "v", mountPath: "/etc/conf/" },
        { name: "w", mountPath: "/etc/conf/run" },
        { name: "w", mountPath: "/etc/conf/run/deeper", subPath: "x" },
        { name: "w", mountPath: "/etc/config" },
      ],
    },
  ];
  const directory = hostPathOf(await volumes.setUpPod(pod, never), "v");
  assert.deepEqual(
    readdirSync(directory).filter((name) => !name.startsWith("..")),
    ["a", "run"],
  );
  assert.deepEqual(readdirSync(`${directory}/run`), []);
});

test("without an API server a volume that needs it is refused, before anything is made", { skip }, async (t) => {
  const volumes = manager(await temporaryRoot(t));
  const rows: [Volume, string][] = [
    [{ name: "v", projected: { sources: [{ serviceAccountToken: { path: "x" } }] } }, "projected.serviceAccountToken"],
    [{ name: "v", secret: { secretName: "x" } }, "secret"],
  ];
  for (const [volume, source] of rows) {
    await assert.rejects(
      volumes.setUpPod(podWith([volume]), never),
      (error) => error instanceof UnsupportedVolumeError && error.source === source,
    );
  }
  const own = { projected: { sources: [{ downwardAPI: { items: [] } }] } };
  await volumes.setUpPod(podWith([{ name: "v", ...own }]), never);
  await volumes.stop();
});
