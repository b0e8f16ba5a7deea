// Volumes and variables from API objects, on a real runtime. Containers see ConfigMaps, Secrets, tokens and Services,
// and updates reach running containers.
// @promise Volumes: A pod's certificate: the key never leaves node and volume; renewal in time, with the old
//   certificate until then; a refusal is final and reported; no watch without such a pod.
// @with test/main/cluster/pod-certificates, test/cluster/api-contract-pod-certificates.test.ts
// @promise Volumes: Volumes of API objects change in one step while the container runs; variables follow upstream's
//   rules.
// @with test/main/containers/runtime/container-env.test.ts

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { testImage, waitFor } from "../harness/node.js";
import type { ApiKit, ApiObject, Fields } from "../support/api-kit.js";
import { NODE_NAME, startClusterNode, type ClusterNode } from "../support/cluster-node.js";
import { loopDevice } from "../support/loop-device.js";
import { mountsBelow, optionsOfMount } from "../support/mounts.js";
import { isPodSignerServed, PodSigner } from "../support/pod-signer.js";

const PATIENCE_MS = 60_000;
let cluster: ClusterNode;
let api: ApiKit;
/** Namespace of this file's objects. */
const namespace = `volumes-${process.pid}`;

before(async () => {
  cluster = await startClusterNode({
    flags: ["--feature-gates=PodCertificateRequest=true"],
    contentType: "application/vnd.kubernetes.protobuf",
  });
  ({ api } = cluster);
  await api.create("namespaces", { metadata: { name: namespace } });
  for (const [resource, name] of [
    ["serviceaccounts", "default"],
    ["configmaps", "kube-root-ca.crt"],
  ] as const) {
    await api.waitFor(resource, namespace, name, (object) => object !== undefined, { what: `${resource} ${name}` });
  }
});
after(async () => {
  // No node is left to end them on a server that lives on.
  const { items } = await api.list("pods", namespace);
  for (const { metadata } of items) await api.delete("pods", namespace, metadata.name, { gracePeriodSeconds: 0 });
  await api.delete("namespaces", "", namespace);
  await cluster.stop();
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");

function make(resource: string, name: string, fields: Fields): Promise<ApiObject> {
  return api.create(resource, { metadata: { name, namespace }, ...fields });
}

/** A pod of this node that runs a script. */
function pod(name: string, script: string, container: Fields = {}, spec: Fields = {}): Promise<ApiObject> {
  const command = ["sh", "-c", script];
  const main = { name: "main", image: testImage(), imagePullPolicy: "IfNotPresent", command, ...container };
  const rest = { nodeName: NODE_NAME, terminationGracePeriodSeconds: 1, restartPolicy: "Never", ...spec };
  return make("pods", name, { spec: { containers: [main], ...rest } });
}

async function logOf({ metadata }: ApiObject): Promise<string[]> {
  const directory = join(cluster.node.kubelet.podLogs, `${namespace}_${metadata.name}_${metadata.uid}`, "main");
  const names = await readdir(directory).catch(() => []);
  const texts = await Promise.all(names.map((name) => readFile(join(directory, name), "utf8")));
  return texts.flatMap((text) => text.split("\n").map((line) => line.split(" ").slice(3).join(" ")));
}

/** Waits for a line of the pod's output; gives all. */
async function said(of: ApiObject, line: string, what: string): Promise<string[]> {
  let lines: string[] = [];
  const holds = async (): Promise<boolean> => (lines = await logOf(of)).includes(line);
  await waitFor(holds, { what, timeoutMs: PATIENCE_MS, lastSeen: () => Promise.resolve(lines.join("\n")) });
  return lines;
}

/** Waits for so many lines like it; gives them. */
async function saidMatching(of: ApiObject, like: RegExp, count: number): Promise<string[]> {
  let lines: string[] = [];
  const holds = async (): Promise<boolean> =>
    (lines = (await logOf(of)).filter((line) => like.test(line))).length >= count;
  await waitFor(holds, { what: `${count} lines like ${like.source}`, timeoutMs: PATIENCE_MS });
  return lines;
}

/** A claim bound to a local volume of this node; a controller binds it on a real server. */
async function localClaim(name: string, spec: Fields, annotations: Record<string, string> = {}): Promise<void> {
  const volumeName = `${namespace}-${name}`;
  const common = { accessModes: ["ReadWriteOnce"], storageClassName: "", volumeMode: "Filesystem" };
  const resources = { requests: { storage: "1Mi" } };
  const claim = await make("persistentvolumeclaims", name, { spec: { ...common, volumeName, resources } });
  const here = { key: "metadata.name", operator: "In", values: [NODE_NAME] };
  await api.create("persistentvolumes", {
    metadata: { name: volumeName, annotations },
    spec: {
      ...common,
      capacity: { storage: "1Mi" },
      claimRef: { namespace, name, uid: claim.metadata.uid },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchFields: [here] }] } },
      persistentVolumeReclaimPolicy: "Retain",
      ...spec,
    },
  });
  if (cluster.fixture === undefined) return;
  const status = { phase: "Bound", capacity: { storage: "1Mi" }, accessModes: ["ReadWriteOnce"] };
  await api.patch("persistentvolumeclaims", namespace, name, { status }, { subresource: "status" });
}

const ACCESS = "/var/run/secrets/kubernetes.io/serviceaccount";
/** Prints a file whenever it has changed. */
const follow = (what: string, path: string): string =>
  `(last=; while :; do v=$(cat ${path}); [ "$v" = "$last" ] || echo "${what}=$v"; last=$v; sleep 0.1; done) &`;

test("a pod of all sources: environment, files, access to the API server; updates reach it", async () => {
  await Promise.all([
    make("configmaps", "settings", { data: { color: "red", size: "7" } }),
    make("secrets", "login", { data: { user: base64("me"), pass: base64("p w") } }),
    make("services", "web-ui", { spec: { clusterIP: "10.96.7.7", ports: [{ port: 80, name: "http" }] } }),
  ]);
  const script = [
    'echo "ENV $COLOR $ALL_user $ALL_pass $size $WHO"',
    'echo "SERVICES $KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT $WEB_UI_SERVICE_HOST"',
    `cd ${ACCESS}; echo "ACCESS $(cat namespace) $(grep -c BEGIN ca.crt) $(cut -d. -f1 token | wc -l)"`,
    'echo "MODE $(stat -Lc %a token) $(stat -c %a .) $(stat -Lc %a /secret/user) $(stat -c %a /secret)"',
    'for v in /secret /down /all "$PWD"; do echo "TMPFS $(grep -c " $v tmpfs ro" /proc/mounts)"; done',
    'echo "ALL $(cat /all/maps/color) $(cat /all/user) $(cat /all/cpu) $(stat -Lc %a /all/maps/color)"',
    follow("color", "/settings/color"),
    follow("pass", "/secret/pass"),
    follow("labels", "/down/labels"),
    "wait",
  ].join("\n");
  const env = [
    { name: "COLOR", valueFrom: { configMapKeyRef: { name: "settings", key: "color" } } },
    { name: "WHO", valueFrom: { fieldRef: { fieldPath: "spec.serviceAccountName" } } },
  ];
  const envFrom = [{ configMapRef: { name: "settings" } }, { prefix: "ALL_", secretRef: { name: "login" } }];
  const volumeMounts = ["settings", "secret", "down", "all"].map((name) => ({
    name,
    mountPath: `/${name}`,
    ...(name === "secret" && { readOnly: true }),
  }));
  const volumes = [
    { name: "settings", configMap: { name: "settings" } },
    { name: "secret", secret: { secretName: "login", defaultMode: 0o400 } },
    { name: "down", downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
    {
      name: "all",
      projected: {
        sources: [
          { configMap: { name: "settings", items: [{ key: "color", path: "maps/color", mode: 0o440 }] } },
          { secret: { name: "login", items: [{ key: "user", path: "user" }] } },
          {
            downwardAPI: {
              items: [{ path: "cpu", resourceFieldRef: { containerName: "main", resource: "limits.cpu" } }],
            },
          },
        ],
      },
    },
  ];
  const resources = { limits: { cpu: "2" } };
  const made = await pod("all", script, { env, envFrom, volumeMounts, resources }, { volumes });
  const lines = await said(made, "color=red", "the pod to see its config map");
  const line = (word: string): string[] => lines.filter((one) => one.startsWith(word));
  assert.deepEqual(line("ENV"), ["ENV red me p w 7 default"]);
  assert.match(line("SERVICES")[0] ?? "", /^SERVICES \d+\.\d+\.\d+\.\d+:\d+ 10\.96\.7\.7$/);
  assert.deepEqual(line("ACCESS"), [`ACCESS ${namespace} 1 1`]);
  assert.deepEqual(line("MODE"), ["MODE 644 1777 400 1777"]);
  assert.deepEqual(line("TMPFS"), Array(4).fill("TMPFS 1"));
  assert.deepEqual(line("ALL"), ["ALL red me 2 440"]);

  await api.patch("configmaps", namespace, "settings", { data: { color: "blue" } });
  await api.patch("secrets", namespace, "login", { data: { pass: base64("new") } });
  await api.patch("pods", namespace, "all", { metadata: { labels: { tier: "gold" } } });
  await said(made, "color=blue", "the new config map in the container");
  await said(made, "pass=new", "the new secret in the container");
  await said(made, 'labels=tier="gold"', "the new label in the container");
});

test("a pod certificate volume has key and certificate; a denied request keeps the pod from starting", async (t) => {
  if (!(await isPodSignerServed(api))) {
    t.skip("certificates.k8s.io/v1beta1 podcertificaterequests are not served");
    return;
  }
  const [signer, end, signerName] = [new PodSigner(), new AbortController(), `nodelet.test/${namespace}`];
  const denied = signer.refused("Denied", "UnsupportedKeyType", "try ED25519");
  const answer = (request: ApiObject): Fields =>
    request.spec?.["podName"] === "denied" ? denied : signer.issued(request);
  const serving = signer.serve(api, namespace, answer, end.signal);
  const volumeMounts = [{ name: "id", mountPath: "/id" }];
  const ofSources = (...sources: Fields[]): Fields => ({
    securityContext: { runAsUser: 1000 },
    volumes: [
      { name: "id", projected: { sources: sources.map((one) => ({ podCertificate: { signerName, ...one } })) } },
    ],
  });
  try {
    const bundle = { keyType: "ED25519", credentialBundlePath: "bundle" };
    const pair = { keyType: "ECDSAP384", keyPath: "a/key", certificateChainPath: "a/chain" };
    const script =
      'cd /id; stat -Lc "MODE %a %u" bundle; for f in bundle a/key a/chain; do echo "= $f"; cat $f; done; echo END; sleep 3600';
    const made = await pod("certified", script, { volumeMounts }, ofSources(bundle, pair));
    const lines = await said(made, "END", "the pod to show its certificates");
    assert.ok(lines.includes("MODE 600 1000"));
    const [, first = "", key = "", chain = ""] = lines.join("\n").split(/^= .*\n/m);
    const blocks = first.match(/-----BEGIN [A-Z ]+-----/g);
    const kinds = ["PRIVATE KEY", "CERTIFICATE", "CERTIFICATE"].map((kind) => `-----BEGIN ${kind}-----`);
    assert.deepEqual(blocks, kinds);
    const authority = new X509Certificate(signer.authority.ca);
    for (const [privateKey, certificates] of [
      [first, first],
      [key, chain],
    ] as const) {
      const leaf = new X509Certificate(/-----BEGIN CERT[^]*/.exec(certificates)?.[0] ?? "");
      assert.ok(leaf.verify(authority.publicKey) && leaf.checkPrivateKey(createPrivateKey(privateKey)));
    }
    const states = `kubelet_podcertificate_states{signer_name="${signerName}",state="fresh"} 2`;
    await waitFor(async () => (await (await fetch(`${cluster.node.kubelet.url}/metrics`)).text()).includes(states), {
      what: states,
      timeoutMs: PATIENCE_MS,
    });

    await pod("denied", "true", { volumeMounts }, ofSources(bundle));
    const hasEvent = async (): Promise<boolean> => {
      const { items } = await api.list("events", namespace, { fieldSelector: "involvedObject.name=denied" });
      const has = (reason: string, text: string): boolean =>
        items.some((event) => event["reason"] === reason && String(event["message"]).includes(text));
      const why = 'reason="UnsupportedKeyType" message="try ED25519"';
      return has("Denied", "was denied") && has("FailedMount", `PodCertificateRequest was permanently denied: ${why}`);
    };
    await waitFor(hasEvent, { what: "the events of the refusal", timeoutMs: PATIENCE_MS });
  } finally {
    end.abort();
    await serving;
  }
});

test("a pod waits for missing objects, with an event, and starts when they exist", async () => {
  const volumeMounts = [{ name: "v", mountPath: "/v" }];
  const made = await pod(
    "waits",
    "cat /v/a; echo; sleep 100",
    { volumeMounts },
    { volumes: [{ name: "v", configMap: { name: "late" } }] },
  );
  const hasEvent = async (): Promise<boolean> => {
    const { items } = await api.list("events", namespace);
    const text = 'MountVolume.SetUp failed for volume "v" : configmap "late" not found';
    return items.some((event) => event["reason"] === "FailedMount" && event["message"] === text);
  };
  await waitFor(hasEvent, { what: "the event", timeoutMs: PATIENCE_MS });
  const readyToStart = (object: ApiObject | undefined): unknown =>
    (object?.status?.["conditions"] as Fields[] | undefined)?.find(
      ({ type }) => type === "PodReadyToStartContainers",
    )?.["status"];
  const hasSandbox = (object: ApiObject | undefined): boolean => object?.status?.["podIP"] !== undefined;
  const early = await api.waitFor("pods", namespace, "waits", hasSandbox, { what: "its sandbox" });
  assert.equal(readyToStart(early), "False", "as upstream, which creates the sandbox after the volumes");
  await make("configmaps", "late", { data: { a: "here" } });
  await said(made, "here", "the config map that came late");
  await api.waitFor("pods", namespace, "waits", (object) => readyToStart(object) === "True", { what: "the condition" });
});

test("an environment variable without a source keeps its container from being created; the status has the reason", async () => {
  await make("configmaps", "small", { data: { a: "1" } });
  const valueFrom = { configMapKeyRef: { name: "small", key: "b" } };
  const made = await pod("lacks", 'echo "b=$B"; sleep 100', { env: [{ name: "B", valueFrom }] });
  const waiting = (object: ApiObject | undefined): Fields | undefined => {
    const [status] = (object?.status?.["containerStatuses"] ?? []) as { state?: { waiting?: Fields } }[];
    return status?.state?.waiting;
  };
  const shown = await api.waitFor(
    "pods",
    namespace,
    "lacks",
    (object) => waiting(object)?.["reason"] === "CreateContainerConfigError",
    { what: "the waiting reason" },
  );
  assert.equal(waiting(shown)?.["message"], `couldn't find key b in ConfigMap ${namespace}/small`);
  await api.patch("configmaps", namespace, "small", { data: { b: "2" } });
  await said(made, "b=2", "the variable that came late");
});

test("without the API server containers restart with the cached objects", async (t) => {
  const { fixture, node } = cluster;
  if (fixture === undefined) {
    t.skip("a real server is not ours to stop");
    return;
  }
  await make("configmaps", "known", { data: { a: "1" } });
  const env = [{ name: "A", valueFrom: { configMapKeyRef: { name: "known", key: "a" } } }];
  const volumeMounts = ["known", "end"].map((name) => ({ name, mountPath: `/${name}` }));
  const volumes = [
    { name: "known", configMap: { name: "known" } },
    { name: "end", emptyDir: {} },
  ];
  const script = `echo "run $A $KUBERNETES_SERVICE_HOST $(cat /known/a)"; until rm /end/now 2>/dev/null; do sleep 0.1; done`;
  const made = await pod("stays", script, { env, volumeMounts }, { volumes, restartPolicy: "Always" });
  const [first = ""] = (await saidMatching(made, /^run /, 1)).slice(-1);
  assert.match(first, /^run 1 \S+ 1$/);
  await fixture.stop();
  try {
    await writeFile(`${node.kubelet.rootDir}/pods/${made.metadata.uid}/volumes/kubernetes.io~empty-dir/end/now`, "");
    assert.deepEqual(await saidMatching(made, /^run /, 2), [first, first]);
  } finally {
    await fixture.restart();
  }
  await api.patch("configmaps", namespace, "known", { data: { a: "2" } });
  const file = `${node.kubelet.rootDir}/pods/${made.metadata.uid}/volumes/kubernetes.io~configmap/known/a`;
  const updated = async (): Promise<boolean> => (await readFile(file, "utf8")) === "2";
  await waitFor(updated, { what: "the update after the server's return", timeoutMs: 2 * PATIENCE_MS });
});

test("a persistent volume's group, an annotation, reaches the container, and its mount options its mount", async () => {
  const directory = join(cluster.node.kubelet.rootDir, "..", "local-disk");
  await mkdir(directory, { recursive: true });
  await localClaim(
    "annotated",
    { local: { path: directory }, mountOptions: ["nosuid", "nodev"] },
    { "pv.beta.kubernetes.io/gid": "4711" },
  );
  const script = `echo "GROUPS $(id -G)"; echo done; sleep 100`;
  const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "annotated" } }];
  const volumeMounts = [{ name: "data", mountPath: "/data" }];
  const securityContext = { supplementalGroups: [99] };
  const made = await pod("annotated", script, { volumeMounts }, { volumes, securityContext });
  const lines = await said(made, "done", "the pod to have looked");
  const words = (word: string): string[] =>
    lines
      .find((line) => line.startsWith(word))
      ?.split(/[ ,]/)
      .slice(1) ?? [];
  assert.deepEqual(
    ["99", "4711"].filter((group) => !words("GROUPS").includes(group)),
    [],
  );
  // On the node: from 1.2 on, runc gives the container's own mount only the options that the runtime asks for.
  const folder = join(
    cluster.node.kubelet.rootDir,
    "pods",
    made.metadata.uid ?? "",
    "volumes/kubernetes.io~local-volume",
  );
  const [mounted = ""] = mountsBelow(folder);
  const options = optionsOfMount(mounted) ?? [];
  assert.deepEqual(
    ["nosuid", "nodev", "noexec"].filter((option) => options.includes(option)),
    ["nosuid", "nodev"],
  );
});

test("a device with another file system than its volume requires causes an event of the volume", async (t) => {
  const device = loopDevice(join(cluster.node.kubelet.rootDir, "..", "other-disk"), 16 << 20);
  if (device === undefined) {
    t.diagnostic("no loop device can be had here");
    return;
  }
  t.after(() => device.detach());
  execFileSync("mkfs.ext4", ["-q", "-F", device.path]);
  await localClaim("mismatch", { local: { path: device.path, fsType: "vfat" } });
  const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "mismatch" } }];
  await pod("mismatch", "echo never", { volumeMounts: [{ name: "data", mountPath: "/data" }] }, { volumes });
  let messages: string[] = [];
  await waitFor(
    async () => {
      const fieldSelector = `involvedObject.name=${namespace}-mismatch,reason=FailedMountOnFilesystemMismatch`;
      messages = (await api.list("events", "default", { fieldSelector })).items.map((item) => String(item["message"]));
      return messages.length > 0;
    },
    { what: "the event", timeoutMs: PATIENCE_MS },
  );
  assert.match(
    messages[0] ?? "",
    /^MountVolume failed for volume ".*-mismatch" device .* has file system ext4, but .* vfat: /,
  );
  await api.delete("pods", namespace, "mismatch", { gracePeriodSeconds: 0 });
});

test("a local volume on a blank device is formatted and mounted; nothing of it stays mounted", async (t) => {
  const { rootDir } = cluster.node.kubelet;
  const device = loopDevice(join(rootDir, "..", "blank-disk"), 16 << 20);
  if (device === undefined) {
    t.diagnostic("no loop device can be had here");
    return;
  }
  t.after(() => device.detach());
  await localClaim("blank", { local: { path: device.path, fsType: "ext4" } });
  const script = `echo "TYPE $(grep ' /data ' /proc/mounts | cut -d' ' -f3)"; echo kept > /data/file && echo done`;
  const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "blank" } }];
  const volumeMounts = [{ name: "data", mountPath: "/data" }];
  const made = await pod("blank", script, { volumeMounts }, { volumes });
  const lines = await said(made, "done", "the pod to have written");
  assert.ok(lines.includes("TYPE ext4"), lines.join("\n"));
  const mounted = (): string[] => mountsBelow(rootDir).filter((place) => place.endsWith(`${namespace}-blank`));
  await api.delete("pods", namespace, "blank", { gracePeriodSeconds: 0 });
  await waitFor(() => Promise.resolve(mounted().length === 0), {
    what: "the device unmounted",
    timeoutMs: PATIENCE_MS,
  });
});
