// A pod with every field that Kubernetes 1.37 has added to pods, as its API server sends it. Some of its sources need
// objects of an API server; a static pod has the others.

import type { Fields } from "./api-kit.js";

/** Every answer goes to servers of the test on the node's own addresses. */
export interface LaterPodOptions {
  image: string;
  httpPort: number;
  grpcPort: number;
  /** Sources that only an API server can resolve, too. */
  withReferences: boolean;
}

export function laterPodSpec({ image, httpPort, grpcPort, withReferences }: LaterPodOptions): Fields {
  const often = { periodSeconds: 1, failureThreshold: 1_000_000 };
  const httpGet = { port: httpPort, protocol: "HTTP2" };
  const http = { httpGet, ...often };
  const grpc = { grpc: { port: grpcPort, mode: "TLS" }, ...often };
  const names = ["scratch", "about", "all", ...(withReferences ? ["settings", "key"] : [])];
  const bindMountOptions = ["noexec", "nosuid"];
  const volumeMounts = names.map((name) => ({ name, mountPath: `/${name}`, bindMountOptions }));
  const container = (name: string, probe: object, more: object = {}): object => ({
    ...{ name, image, imagePullPolicy: "Never", command: ["sleep", "3600"], volumeMounts },
    ...{ livenessProbe: probe, readinessProbe: probe, startupProbe: probe },
    ...more,
  });
  const lifecycle = { postStart: { httpGet }, preStop: { httpGet } };
  return {
    // Probes reach the servers by the address of the node.
    hostNetwork: true,
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 5,
    evictionResponders: [{ name: "example.com/mover", priority: 100 }],
    initContainers: [
      container("http-sidecar", http, { restartPolicy: "Always", lifecycle }),
      container("grpc-sidecar", grpc, { restartPolicy: "Always" }),
    ],
    containers: [
      container("http", http, { lifecycle, ...(withReferences && { env: [RAW] }) }),
      container("grpc", grpc),
    ],
    volumes: [
      { name: "scratch", emptyDir: { mode: 0o1750 } },
      { name: "about", downwardAPI: { defaultUser: 1000, items: [nameFile("name")] } },
      { name: "all", projected: { defaultUser: 1000, sources: sources(withReferences) } },
      ...(withReferences
        ? [
            { name: "settings", configMap: { name: "later", defaultUser: 1000, items: [keyFile("key")] } },
            { name: "key", secret: { secretName: "later", defaultUser: 1000, items: [keyFile("key")] } },
          ]
        : []),
    ],
  };
}

function sources(withReferences: boolean): object[] {
  const own = { downwardAPI: { items: [nameFile("own")] } };
  if (!withReferences) return [own];
  return [
    own,
    { configMap: { name: "later", items: [keyFile("setting")] } },
    { secret: { name: "later", items: [keyFile("secret")] } },
    { serviceAccountToken: { path: "token", user: 1000 } },
    { clusterTrustBundle: { name: "none", optional: true, path: "bundle", user: 1000 } },
    { podCertificate: { signerName: SIGNER, keyType: "ED25519", credentialBundlePath: "certificate", user: 1000 } },
  ];
}

/** A value that may be binary. */
const RAW = { name: "RAW", valueFrom: { secretKeyRef: { name: "later", key: "raw" } } };
const SIGNER = "example.com/later";

const nameFile = (path: string): object => ({ path, fieldRef: { fieldPath: "metadata.name" }, user: 1000 });
const keyFile = (path: string): object => ({ key: "key", path, user: 1000 });
