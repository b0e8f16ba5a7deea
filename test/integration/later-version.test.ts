// What docs/kubernetes-1.37.md promises of a cluster whose API server, runtime and configuration are of 1.37: the whole
// kubelet on a fake runtime, in both encodings of the API.
// @promise Configuration and manifests: A pod with every field that Kubernetes 1.37 adds runs, from an API server of
//   1.37 and from a manifest, in both encodings. No field is lost, none has an effect, and the user gets a warning for
//   each.
// @with test/tools/docs/later-version.test.ts

import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Server as GrpcServer, ServerCredentials, type sendUnaryData } from "@grpc/grpc-js";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import { laterFields } from "../../src/shared/kubernetes/api/later-fields.js";
import { startFakeCri, type FakeCri } from "../fake-cri/fake-cri.js";
import { testImage } from "../harness/node.js";
import { NODE_NAME } from "../support/cluster-node.js";
import { podIn, settled, startFaultyCluster, unready, type FaultyCluster } from "../support/faulty-cluster.js";
import { laterPodSpec } from "../support/later-pod.js";
import { PodSigner } from "../support/pod-signer.js";

const GATES = { ClusterTrustBundle: true, ClusterTrustBundleProjection: true, PodCertificateRequest: true };
const CONFIG = { featureGates: GATES, defaultPodSysctls: { "net.ipv4.tcp_syncookies": "1" } };
const FEATURES = { supplementalGroupsPolicy: true, userNamespacesHostNetwork: true, mountOptions: true };
const BINARY = Buffer.from([0xff, 0xfe, 0x61]);
const HEALTH = [{ name: "scratch", healthConditions: [{ status: "Degraded", reason: "Slow" }] }];

type Json = Record<string, unknown>;

for (const encoding of ["application/vnd.kubernetes.protobuf", "application/json"]) {
  describe(`a pod with every field that 1.37 adds, in ${encoding}`, () => {
    const seen: string[] = [];
    const end = new AbortController();
    let http: HttpServer;
    let grpc: GrpcServer;
    let dir: string;
    let fake: FakeCri;
    let cluster: FaultyCluster;
    let signing: Promise<void>;
    let made: Json;

    before(async () => {
      http = createServer((request, response) => {
        seen.push(`HTTP/${request.httpVersion}`);
        response.end();
      });
      await new Promise<void>((resolve) => http.listen(0, resolve));
      grpc = new GrpcServer();
      const ports = { httpPort: (http.address() as AddressInfo).port, grpcPort: await serveHealth(grpc) };
      dir = await mkdtemp(join(tmpdir(), "nodelet-later-"));
      fake = await startFakeCri({ socketPath: join(dir, "cri.sock"), images: [testImage()], features: FEATURES });
      cluster = await startFaultyCluster({
        api: { later: true },
        node: {
          config: { containerRuntimeEndpoint: fake.endpoint, ...CONFIG },
          flags: [`--kube-api-content-type=${encoding}`],
        },
      });
      const { api } = cluster;
      const signer = new PodSigner(systemClock, "certificates.k8s.io/v1/podcertificaterequests");
      signing = signer.serve(api, "default", (request) => signer.issued(request), end.signal);
      await api.waitFor("serviceaccounts", "default", "default", (one) => one !== undefined, { what: "the account" });
      await api.create("configmaps", { metadata: { name: "later", namespace: "default" }, data: { key: "value" } });
      const data = { key: Buffer.from("value").toString("base64"), raw: BINARY.toString("base64") };
      await api.create("secrets", { metadata: { name: "later", namespace: "default" }, data });
      const spec = { nodeName: NODE_NAME, ...laterPodSpec({ image: testImage(), ...ports, withReferences: true }) };
      made = await api.create("pods", { metadata: { name: "bound", namespace: "default" }, spec });
      const file = laterPodSpec({ image: testImage(), ...ports, withReferences: false });
      await cluster.node.writeManifest("file", {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "file" },
        spec: file,
      });
    });
    after(async () => {
      end.abort();
      await cluster.stop();
      await signing;
      await fake.stop();
      grpc.forceShutdown();
      http.closeAllConnections();
      http.close();
      await rm(dir, { recursive: true });
    });

    test("the pod of the API server and that of a manifest run", async () => {
      await settled("both pods", () => unready(cluster.fixture, ["bound", `file-${NODE_NAME}`]));
    });

    test("no field is lost: /pods and the mirror pod show each as it was sent", async () => {
      assert.ok(laterFields(made).length > 45);
      const pods = (await cluster.node.pods()) as unknown as Json[];
      const [bound, file] = ["bound", `file-${NODE_NAME}`].map((name) =>
        pods.find(({ metadata }) => (metadata as Json)["name"] === name),
      );
      assert.deepEqual(valuesOf(bound), valuesOf(made));
      assert.ok(laterFields(file ?? {}).length > 20);
      assert.deepEqual(valuesOf(podIn(cluster.fixture, `file-${NODE_NAME}`) as Json | undefined), valuesOf(file));
      for (const pod of [bound, file]) {
        assert.deepEqual((pod?.["spec"] as Json)["evictionResponders"], [{ name: "example.com/mover", priority: 100 }]);
      }
    });

    test("none has an effect: modes, owners, mounts, probes and sysctls are those of 1.36", async () => {
      const { uid } = made["metadata"] as { uid: string };
      const volumes = join(cluster.node.kubelet.rootDir, "pods", uid, "volumes");
      assert.equal((await stat(join(volumes, "kubernetes.io~empty-dir/scratch"))).mode & 0o7777, 0o777);
      for (const path of [
        "configmap/settings/key",
        "secret/key/key",
        "downward-api/about/name",
        "projected/all/token",
      ]) {
        assert.equal((await stat(join(volumes, `kubernetes.io~${path}`))).uid, 0, path);
      }
      assert.deepEqual([...new Set(seen)], ["HTTP/1.1"]);
      const requests = fake.calls.map(({ verb, request }) => [verb, request as Requests] as const);
      const mounts = requests.flatMap(([verb, { config }]) =>
        verb === "CreateContainer" ? (config?.mounts ?? []) : [],
      );
      assert.ok(mounts.some(({ containerPath }) => containerPath === "/scratch"));
      assert.deepEqual(
        mounts.flatMap(({ mountOptions }) => mountOptions),
        [],
      );
      const sandboxes = requests.flatMap(([verb, { config }]) =>
        verb === "RunPodSandbox" ? [config?.linux?.sysctls] : [],
      );
      assert.deepEqual(sandboxes, [{}, {}]);
    });

    test("a variable has the bytes of a secret that is no text", () => {
      const created = fake.calls.filter(({ verb }) => verb === "CreateContainer");
      const values = created.flatMap(({ request }) => (request as Requests).config?.envs ?? []);
      assert.deepEqual(
        values.filter(({ key }) => key === "RAW").map(({ value }) => Buffer.from(value)),
        [BINARY],
      );
    });

    test("the user gets warnings: an event of the pod, a warning for each field of the manifest, one for the configuration", async () => {
      await settled("the event", async () => {
        const { items } = await cluster.api.list("events", "default", { fieldSelector: "reason=LaterFields" });
        const texts = items.map(
          (one) => `${String((one["involvedObject"] as Json)["name"])}: ${String(one["message"])}`,
        );
        return texts.length === 1 && texts[0]?.startsWith("bound: this kubelet keeps the contract of Kubernetes 1.36")
          ? ""
          : JSON.stringify(texts);
      });
      const log = await readFile(cluster.node.kubelet.log, "utf8");
      const pods = (await cluster.node.pods()) as unknown as Json[];
      const file = pods.find(({ metadata }) => (metadata as Json)["name"] === `file-${NODE_NAME}`);
      for (const { path, gate } of laterFields(file ?? {})) {
        const field = path
          .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
          .join("")
          .slice(1);
        assert.ok(
          log.includes(`${field}: kept, but without effect: a field of Kubernetes 1.37 (feature gate ${gate})`),
        );
      }
      assert.doesNotMatch(log, /unknown field/);
      assert.match(log, /defaultPodSysctls: a field of Kubernetes 1\.37 \(feature gate DefaultPodSysctls\)/);
    });

    test("what others wrote into the status of 1.37 outlives the kubelet's patches, and a restart repeats no event", async () => {
      const { api, node, fixture } = cluster;
      const kept = { volumeHealth: HEALTH, nodeAllocatableResourceClaimStatuses: [CLAIM] };
      await api.patch("pods", "default", "bound", { status: kept }, { subresource: "status" });
      await node.restart();
      await api.patch("pods", "default", "bound", { metadata: { labels: { seen: "again" } } });
      await node.waitFor((pods) => pods.some(({ metadata }) => metadata.labels?.["seen"] === "again"), {
        what: "the label",
      });
      await settled("the pod", () => unready(fixture, ["bound"]));
      const { volumeHealth, nodeAllocatableResourceClaimStatuses } = podIn(fixture, "bound")?.status ?? {};
      assert.deepEqual({ volumeHealth, nodeAllocatableResourceClaimStatuses }, kept);
      const { items } = await api.list("events", "default", { fieldSelector: "reason=LaterFields" });
      assert.deepEqual(
        items.map(({ count }) => count),
        [1],
      );
      const created = fake.calls.filter(({ verb }) => verb === "CreateContainer");
      assert.equal(created.length, 8);
    });
  });
}

const CLAIM = {
  resourceClaimName: "cpus",
  containers: ["http"],
  mapping: [{ name: "cpu", quantity: "2" }],
  overhead: [{ name: "memory", perPod: "1Mi", perContainer: "2Mi" }],
};

interface Requests {
  config?: {
    envs?: { key: string; value: Uint8Array }[];
    mounts?: { containerPath: string; mountOptions: string[] }[];
    linux?: { sysctls?: object };
  };
}

/** Each field of 1.37 that the pod sets, with its value. */
function valuesOf(pod: Json | undefined): Json {
  return Object.fromEntries(
    laterFields(pod ?? {}).map(({ path }) => [
      path.join("."),
      path.reduce<unknown>((value, step) => (value as Json)[step], pod),
    ]),
  );
}

const raw = (bytes: Buffer): Buffer => bytes;
const SERVING = Buffer.from([0x08, 1]);

/** Plain text, as a server without TLS. */
function serveHealth(server: GrpcServer): Promise<number> {
  const definition = {
    path: "/grpc.health.v1.Health/Check",
    ...({ requestStream: false, responseStream: false } as const),
    ...{ requestSerialize: raw, requestDeserialize: raw, responseSerialize: raw, responseDeserialize: raw },
  };
  server.addService(
    { check: definition },
    { check: (_call: unknown, answer: sendUnaryData<Buffer>) => answer(null, SERVING) },
  );
  return new Promise((resolve, reject) => {
    server.bindAsync("0.0.0.0:0", ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    );
  });
}
