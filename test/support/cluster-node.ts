// A node of a cluster for tests: the kubelet on real containerd, and an API server. That is the fixture, or the one of
// KUBECONFIG. There, too, the kubelet has a node's own credentials. Stops what it started.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ResourceList, ResourceRequirements } from "../../src/shared/kubernetes/api/meta.js";
import { FakeApi, type User } from "../fake-api/fake-api.js";
import { startNode, testImage, type NodeOptions, type TestNode } from "../harness/node.js";
import { ApiKit, type ApiObject, type Fields } from "./api-kit.js";
import { nodeKubeconfig } from "./node-certificate.js";

export const NODE_NAME = "testnode";

export interface ClusterNode {
  /** Undefined on a real server. */
  fixture: FakeApi | undefined;
  /** As an administrator. */
  api: ApiKit;
  node: TestNode;
  stop(): Promise<void>;
}

export interface ClusterNodeOptions extends NodeOptions {
  /**
   * Encoding of objects between kubelet and API server; absent: the kubelet's default. NODELET_TEST_CONTENT_TYPE
   * overrides it.
   */
  contentType?: "application/json" | "application/vnd.kubernetes.protobuf";
  /**
   * The authenticated port accepts the API server and asks it about others, as on a node of kubeadm. So `kubectl logs`
   * and `exec` work. There is a scheduler. The fixture only.
   */
  reachable?: true;
  /** Requests for serving certificates are approved and signed at once. The fixture only. */
  approveServingCertificates?: true;
  /** Bearer tokens of the fixture, by token. */
  tokens?: ReadonlyMap<string, User>;
}

/** Why tests of a {@link ClusterNodeOptions.reachable} node do not run; false: they do. */
export const NOT_REACHABLE =
  process.env["KUBECONFIG"] !== undefined && "the API server of KUBECONFIG cannot reach this node's port";

export async function startClusterNode(given: ClusterNodeOptions = {}): Promise<ClusterNode> {
  const { contentType, reachable, approveServingCertificates = false, tokens, ...options } = given;
  const real = process.env["KUBECONFIG"];
  const settings = {
    ...{ nodeRestriction: true, bookmarkMs: 1000, approveServingCertificates },
    ...{ controllers: reachable === true, tokens: new Map(tokens) },
  };
  const fixture = real === undefined ? await FakeApi.start(settings) : undefined;
  const port = reachable === true && fixture !== undefined ? await reachablePort(fixture) : undefined;
  const admin = real ?? (await fixture?.kubeconfig({ name: "admin", groups: ["system:masters"] })) ?? "";
  const user = { name: `system:node:${NODE_NAME}`, groups: ["system:nodes"] };
  const api = await ApiKit.fromKubeconfig(admin);
  const issued = real === undefined ? undefined : await nodeKubeconfig(api, NODE_NAME);
  const own = issued?.path ?? (await fixture?.kubeconfig(user)) ?? "";
  const encoding = process.env["NODELET_TEST_CONTENT_TYPE"] ?? contentType;
  const encodingFlags = encoding === undefined ? [] : [`--kube-api-content-type=${encoding}`];
  const flags = [...(options.flags ?? []), `--kubeconfig=${own}`, ...encodingFlags];
  const config = { ...port?.config, ...options.config };
  const node = await startNode({
    ...options,
    ...(port === undefined ? {} : { secure: true }),
    nodeName: NODE_NAME,
    flags,
    config,
  });
  return {
    fixture,
    api,
    node,
    async stop() {
      await node.stop();
      await issued?.[Symbol.asyncDispose]();
      await port?.[Symbol.asyncDispose]();
      api.close();
      await fixture?.[Symbol.asyncDispose]();
    },
  };
}

/** The configuration of a port for the API server's own client, with the file of its authority. */
async function reachablePort(fixture: FakeApi): Promise<AsyncDisposable & { config: Fields }> {
  const dir = await mkdtemp(join(tmpdir(), "cluster-ca-"));
  const clientCAFile = join(dir, "ca.crt");
  await writeFile(clientCAFile, fixture.ca);
  const authentication = { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile } };
  return {
    config: { address: "0.0.0.0", authentication, authorization: { mode: "Webhook" } },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}

/** A pod bound to the node, of one container that runs `script`. */
export function boundPod(name: string, script: string, spec: Fields = {}): Fields {
  return {
    metadata: { name, namespace: "default" },
    spec: {
      nodeName: NODE_NAME,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 5,
      containers: [{ name: "app", image: testImage(), imagePullPolicy: "Never", command: ["/bin/sh", "-c", script] }],
      ...spec,
    },
  };
}

export interface SeenStatus {
  resources?: ResourceRequirements;
  allocatedResources?: ResourceList;
  phase?: string;
  reason?: string;
  message?: string;
  startTime?: string;
  podIP?: string;
  observedGeneration?: number;
  conditions?: {
    type: string;
    status: string;
    lastTransitionTime?: string;
    reason?: string;
    observedGeneration?: number;
  }[];
  containerStatuses?: SeenContainer[];
  ephemeralContainerStatuses?: SeenContainer[];
}

export interface SeenContainer {
  name: string;
  containerID?: string;
  restartCount: number;
  state: { running?: { startedAt: string }; terminated?: { exitCode: number; reason: string } };
  resources?: { limits?: Record<string, string> };
  allocatedResourcesStatus?: { name: string; resources: { resourceID: string; health: string }[] }[];
}

export function statusOf(pod: ApiObject | undefined): SeenStatus {
  return pod?.["status"] ?? {};
}

export function isReady(pod: ApiObject | undefined): boolean {
  return statusOf(pod).conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
}
