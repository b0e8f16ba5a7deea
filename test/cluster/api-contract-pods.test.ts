// What the kubelet relies on for pods: the fields that the server fills in, what may change, and binding, resize,
// eviction and deletion.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ApiRefusal, type ApiKit, type ApiObject, type Fields } from "../support/api-kit.js";
import { Cluster, podOf } from "../support/cluster.js";

let cluster: Cluster;
let kit: ApiKit;
let namespace: string;
let node: string;
before(async () => {
  cluster = await Cluster.start();
  ({ kit, namespace } = cluster);
  node = `${namespace}-node`;
  const capacity = { cpu: "4", memory: "8Gi", pods: "110" };
  await cluster.make("nodes", { metadata: { name: node }, status: { capacity, allocatable: capacity } });
});
after(async () => cluster[Symbol.asyncDispose]());

async function refusal(call: Promise<unknown>): Promise<{ code: number; message: string }> {
  const error: unknown = await call.then(
    () => new assert.AssertionError({ message: "the call was not refused" }),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiRefusal)) throw error;
  return { code: error.code, message: String(error.status["message"]) };
}

/** On the suite's node. */
const bound = (name: string, spec: Fields = {}, metadata: Fields = {}): Promise<ApiObject> =>
  cluster.pod(name, { nodeName: node, ...spec }, metadata);

const setStatus = (name: string, status: unknown): Promise<ApiObject> =>
  kit.patch("pods", namespace, name, { status }, { subresource: "status" });

describe("a new pod", () => {
  it("gets the defaults of spec, containers and probes", async () => {
    const container = {
      name: "a",
      image: "busybox",
      ports: [{ containerPort: 80 }],
      livenessProbe: { httpGet: { port: 80 } },
      resources: { limits: { cpu: "0.5", memory: "1024Mi" } },
      env: [{ name: "NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
    };
    const pod = await cluster.pod("defaults", { containers: [container], automountServiceAccountToken: false });
    assert.deepEqual(pod.spec, {
      containers: [
        {
          ...container,
          ports: [{ containerPort: 80, protocol: "TCP" }],
          livenessProbe: {
            httpGet: { port: 80, path: "/", scheme: "HTTP" },
            timeoutSeconds: 1,
            periodSeconds: 10,
            successThreshold: 1,
            failureThreshold: 3,
          },
          resources: { limits: { cpu: "500m", memory: "1Gi" }, requests: { cpu: "500m", memory: "1Gi" } },
          env: [{ name: "NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name", apiVersion: "v1" } } }],
          imagePullPolicy: "Always",
          terminationMessagePath: "/dev/termination-log",
          terminationMessagePolicy: "File",
        },
      ],
      automountServiceAccountToken: false,
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 30,
      dnsPolicy: "ClusterFirst",
      securityContext: {},
      schedulerName: "nobody",
      serviceAccountName: "default",
      serviceAccount: "default",
      enableServiceLinks: true,
      priority: 0,
      preemptionPolicy: "PreemptLowerPriority",
      tolerations: ["not-ready", "unreachable"].map((name) => ({
        key: `node.kubernetes.io/${name}`,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 300,
      })),
    });
    assert.deepEqual(pod.status, { phase: "Pending", qosClass: "Guaranteed" });
    assert.equal(pod.metadata.generation, 1);
  });

  it("gets the token volume of its service account, in each container without one", async () => {
    const own = { name: "own", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" };
    const pod = await cluster.pod("token", {
      containers: [
        { name: "a", image: "b:1" },
        { name: "b", image: "b:1", volumeMounts: [own] },
      ],
      volumes: [{ name: "own" }],
    });
    const volumes = pod.spec?.["volumes"] as { name: string; projected?: unknown; emptyDir?: unknown }[];
    const [ownVolume, access] = volumes;
    assert.deepEqual(ownVolume, { name: "own", emptyDir: {} });
    assert.match(access?.name ?? "", /^kube-api-access-[a-z0-9]{5}$/);
    assert.deepEqual(access?.projected, {
      defaultMode: 420,
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
        { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
        {
          downwardAPI: {
            items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
          },
        },
      ],
    });
    const [first, second] = pod.spec?.["containers"] as { volumeMounts: unknown }[];
    assert.deepEqual(first?.volumeMounts, [{ name: access.name, readOnly: true, mountPath: own.mountPath }]);
    assert.deepEqual(second?.volumeMounts, [own]);
  });

  it("gets its priority from its class", async () => {
    const pod = await cluster.pod("critical", { priorityClassName: "system-node-critical" });
    assert.equal(pod.spec?.["priority"], 2_000_001_000);
  });

  it("is refused for a class, an account or a runtime class that is not there", async () => {
    const rows: [Fields, RegExp][] = [
      [{ priorityClassName: "no-class" }, /no PriorityClass with name no-class was found/],
      [{ serviceAccountName: "no-one" }, /error looking up service account .*: serviceaccount "no-one" not found/],
      [{ runtimeClassName: "no-runtime" }, /RuntimeClass "no-runtime" not found/],
    ];
    for (const [spec, pattern] of rows) {
      const { code, message } = await refusal(cluster.pod("refused", spec));
      assert.equal(code, 403);
      assert.match(message, pattern);
    }
  });

  it("is refused without containers, with all their problems reported", async () => {
    assert.match((await refusal(cluster.pod("none", { containers: [] }))).message, /spec\.containers: Required value/);
    const containers = [{ name: "a", image: "b", volumeMounts: [{ name: "no", mountPath: "/x" }] }, { name: "a" }];
    const { code, message } = await refusal(cluster.pod("wrong", { containers }));
    assert.equal(code, 422);
    assert.match(message, /spec\.containers\[0\]\.volumeMounts\[0\]\.name: Not found: "no"/);
    assert.match(message, /spec\.containers\[1\]\.name: Duplicate value: "a"/);
    assert.match(message, /spec\.containers\[1\]\.image: Required value/);
  });
});

describe("a change", () => {
  it("of an image counts a generation; of other fields is refused", async () => {
    await cluster.pod("changed");
    const next = await kit.patch("pods", namespace, "changed", { spec: { containers: [{ name: "a", image: "c:1" }] } });
    assert.equal(next.metadata.generation, 2);
    const { code, message } = await refusal(
      kit.patch("pods", namespace, "changed", { spec: { restartPolicy: "Never" } }),
    );
    assert.equal(code, 422);
    assert.match(message, /spec: Forbidden: pod updates may not change fields other than/);
    const labelled = await kit.patch("pods", namespace, "changed", { metadata: { labels: { a: "b" } } });
    assert.equal(labelled.metadata.generation, 2);
  });

  it("of the status is made by the subresource alone, which leaves the spec alone", async () => {
    await cluster.pod("status");
    const main = await kit.patch("pods", namespace, "status", { status: { phase: "Running" } });
    assert.equal(main.status?.["phase"], "Pending");
    const patch = { metadata: { annotations: { a: "b" } }, spec: { nodeName: "x" }, status: { phase: "Running" } };
    const next = await kit.patch("pods", namespace, "status", patch, { subresource: "status" });
    assert.deepEqual([next.status?.["phase"], next.spec?.["nodeName"]], ["Running", undefined]);
    assert.deepEqual(next.metadata.annotations, { a: "b" });
    assert.equal(next.metadata.generation, 1);
  });

  it("of the status of a pod with another uid is refused", async () => {
    await cluster.pod("uid");
    const patch = { metadata: { uid: "11111111-1111-1111-1111-111111111111" }, status: { phase: "Failed" } };
    const { code, message } = await refusal(kit.patch("pods", namespace, "uid", patch, { subresource: "status" }));
    assert.equal(code, 422);
    assert.match(message, /metadata\.uid: Invalid value: .*: field is immutable/);
  });

  it("of the QoS class is refused", async () => {
    await cluster.pod("qos");
    assert.match(
      (await refusal(setStatus("qos", { qosClass: "Guaranteed" }))).message,
      /status\.qosClass: .*immutable/,
    );
  });

  it("from terminated back to running is refused where nothing restarts", async () => {
    await cluster.pod("never", { restartPolicy: "Never" });
    const status = (state: unknown): unknown => ({
      containerStatuses: [{ name: "a", image: "i", imageID: "", ready: false, restartCount: 0, state }],
    });
    await setStatus("never", status({ terminated: { exitCode: 1 } }));
    const { code, message } = await refusal(setStatus("never", status({ running: {} })));
    assert.equal(code, 422);
    assert.match(message, /containerStatuses\[0\]\.state: Forbidden: may not be transitioned to non-terminated state/);
  });

  it("keeps times in whole seconds", async () => {
    await cluster.pod("times");
    const next = await setStatus("times", { startTime: "2026-01-02T03:04:05.678901Z" });
    assert.equal(next.status?.["startTime"], "2026-01-02T03:04:05Z");
  });
});

describe("subresources", () => {
  const binding = (name: string, target: string): Promise<Fields> =>
    kit.act("pods", namespace, name, "binding", {
      kind: "Binding",
      apiVersion: "v1",
      metadata: { name },
      target: { kind: "Node", name: target },
    });

  it("a pod is bound once", async () => {
    await cluster.pod("bind");
    assert.equal((await binding("bind", node))["status"], "Success");
    const pod = await kit.get("pods", namespace, "bind");
    assert.equal(pod.spec?.["nodeName"], node);
    const conditions = pod.status?.["conditions"] as { type: string; status: string }[];
    assert.deepEqual(
      conditions.map(({ type, status }) => `${type}=${status}`),
      ["PodScheduled=True"],
    );
    const { code, message } = await refusal(binding("bind", "other"));
    assert.equal(code, 409);
    assert.match(message, new RegExp(`pod bind is already assigned to node "${node}"`));
  });

  it("ephemeral containers are added and stay", async () => {
    await bound("debug");
    const spec = { ephemeralContainers: [{ name: "tool", image: "x" }] };
    const pod = await kit.patch("pods", namespace, "debug", { spec }, { subresource: "ephemeralcontainers" });
    const [tool] = pod.spec?.["ephemeralContainers"] as Fields[];
    assert.deepEqual([tool?.["name"], tool?.["terminationMessagePolicy"]], ["tool", "File"]);
    assert.equal(pod.metadata.generation, 2);
    const removal = [{ op: "remove", path: "/spec/ephemeralContainers/0" }];
    const options = { type: "json", subresource: "ephemeralcontainers" } as const;
    assert.equal((await refusal(kit.patch("pods", namespace, "debug", removal, options))).code, 422);
  });

  it("a resize changes resources alone, and not the QoS class", async () => {
    const containers = [{ name: "a", image: "b:1", resources: { requests: { cpu: "100m" }, limits: { cpu: "200m" } } }];
    await bound("resize", { containers });
    const resize = (resources: unknown, more: Fields = {}): Promise<ApiObject> => {
      const patch = { spec: { containers: [{ name: "a", resources, ...more }] } };
      return kit.patch("pods", namespace, "resize", patch, { subresource: "resize" });
    };
    const pod = await resize({ requests: { cpu: "150m" } }, { image: "other" });
    const [container] = pod.spec?.["containers"] as Fields[];
    assert.deepEqual(container?.["resources"], { requests: { cpu: "150m" }, limits: { cpu: "200m" } });
    assert.equal(container["image"], "b:1");
    assert.equal(pod.metadata.generation, 2);
    const tooMuch = await refusal(resize({ requests: { cpu: "100" }, limits: { cpu: "100" } }));
    assert.equal(tooMuch.code, 403);
    assert.match(
      tooMuch.message,
      /node didn't have enough allocatable resources: cpu, requested: 100000, allocatable: 4000/,
    );
    assert.equal((await refusal(resize({ limits: null }))).code, 422);
  });

  it("an eviction deletes with the pod's grace, marked as a disruption", async () => {
    await bound("evicted", { terminationGracePeriodSeconds: 20 });
    const eviction = { kind: "Eviction", apiVersion: "policy/v1", metadata: { name: "evicted", namespace } };
    await kit.act("pods", namespace, "evicted", "eviction", eviction);
    const pod = await kit.get("pods", namespace, "evicted");
    assert.equal(pod.metadata.deletionGracePeriodSeconds, 20);
    const conditions = pod.status?.["conditions"] as Record<string, string>[];
    assert.deepEqual(
      conditions.map(({ type, status, reason }) => [type, status, reason]),
      [["DisruptionTarget", "True", "EvictionByEvictionAPI"]],
    );
  });
});

describe("a deletion", () => {
  it("marks a bound pod and counts a generation; the mark can only come nearer", async () => {
    await bound("grace");
    const before = Date.now();
    const first = await kit.delete("pods", namespace, "grace");
    const after = Date.now();
    const { deletionTimestamp = "", deletionGracePeriodSeconds, generation } = first.metadata;
    assert.deepEqual([deletionGracePeriodSeconds, generation], [30, 2]);
    const mark = Date.parse(deletionTimestamp) - 30_000;
    assert.ok(mark > before - 5000 && mark < after + 5000, deletionTimestamp);
    const later = await kit.delete("pods", namespace, "grace", { gracePeriodSeconds: 60 });
    assert.equal(later.metadata.deletionTimestamp, deletionTimestamp);
    const sooner = await kit.delete("pods", namespace, "grace", { gracePeriodSeconds: 5 });
    assert.equal(Date.parse(sooner.metadata.deletionTimestamp ?? ""), Date.parse(deletionTimestamp) - 25_000);
    assert.deepEqual([sooner.metadata.deletionGracePeriodSeconds, sooner.metadata.generation], [5, 2]);
  });

  it("with grace 0 removes at once: watches see the mark, then the end", async () => {
    await bound("force");
    const { metadata } = await kit.list("pods", namespace);
    await kit.delete("pods", namespace, "force", { gracePeriodSeconds: 0 });
    const seen: [string, number | undefined][] = [];
    const query = { resourceVersion: metadata.resourceVersion, fieldSelector: "metadata.name=force" };
    for await (const { type, object } of kit.watch("pods", namespace, query, AbortSignal.timeout(60_000))) {
      seen.push([type, object.metadata.deletionGracePeriodSeconds]);
      if (type === "DELETED") break;
    }
    assert.deepEqual(seen, [
      ["MODIFIED", 0],
      ["DELETED", 0],
    ]);
  });

  it("of an unbound or finished pod is at once", async () => {
    await cluster.pod("unbound");
    await kit.delete("pods", namespace, "unbound");
    assert.equal(await kit.find("pods", namespace, "unbound"), undefined);
    await bound("finished");
    await setStatus("finished", { phase: "Succeeded" });
    await kit.delete("pods", namespace, "finished");
    assert.equal(await kit.find("pods", namespace, "finished"), undefined);
  });

  it("keeps to its preconditions", async () => {
    const { metadata } = await bound("precise");
    const options = { gracePeriodSeconds: 0, preconditions: { uid: "0-0" } };
    const { code, message } = await refusal(kit.delete("pods", namespace, "precise", options));
    assert.equal(code, 409);
    const expected = `the UID in the precondition (0-0) does not match the UID in record (${metadata.uid ?? ""}).`;
    assert.ok(message.includes(expected), message);
    await kit.delete("pods", namespace, "precise", { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } });
    assert.equal(await kit.find("pods", namespace, "precise"), undefined);
  });

  it("waits for finalizers also after the grace period", async () => {
    await kit.create("pods", podOf(namespace, "final", { nodeName: node }, { finalizers: ["suite/hold"] }));
    await kit.delete("pods", namespace, "final", { gracePeriodSeconds: 0 });
    assert.equal((await kit.get("pods", namespace, "final")).metadata.deletionGracePeriodSeconds, 0);
    await kit.patch("pods", namespace, "final", { metadata: { finalizers: null } }, { type: "merge" });
    assert.equal(await kit.find("pods", namespace, "final"), undefined);
  });

  it("of many is a deletecollection", async () => {
    await cluster.pod("many-1", {}, { labels: { many: "yes" } });
    await cluster.pod("many-2", {}, { labels: { many: "yes" } });
    const query = { labelSelector: "many=yes" };
    assert.equal((await kit.raw("DELETE", `/api/v1/namespaces/${namespace}/pods`, { query })).code, 200);
    assert.deepEqual((await kit.list("pods", namespace, query)).items, []);
  });
});
