// An example node for the status page: pods in several states with usage, events and samples, as the server's feeds
// have them. For pictures of the documents, and for tests of the layout, which add hostile pods.

import type { NodeletImages, NodeletStatus, PodFacts, ThreadFacts } from "../../src/shared/contracts/nodelet.js";
import {
  SAMPLE_MS,
  SAMPLES,
  type HostFacts,
  type MachineSize,
  type PodUsage,
  type UsageSample,
} from "../../src/shared/contracts/status-page.js";
import type { PodTimeline } from "../../src/shared/contracts/timeline.js";
import type { Event } from "../../src/shared/kubernetes/api/event.js";
import type { ApiContainerStatus, ContainerState, PodStatus } from "../../src/shared/kubernetes/api/pod-status.js";
import type { Container, Pod, PodSpec } from "../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../src/shared/kubernetes/identifiers.js";

const GIB = 2 ** 30;
const MIB = 2 ** 20;

export interface ExamplePod {
  pod: Pod;
  usage?: PodUsage;
  facts: PodFacts;
  timeline: PodTimeline;
}

export interface ExampleNode {
  status: NodeletStatus;
  threads: ThreadFacts[];
  samples: UsageSample[];
  machine: MachineSize;
  host: HostFacts;
  events: Event[];
  images: NodeletImages;
  pods: ExamplePod[];
  configz: string;
  log: string;
}

const at = (now: number, secondsAgo: number): string => new Date(now - secondsAgo * 1000).toISOString();

interface Wanted {
  name: string;
  namespace?: string;
  image?: string;
  state?: ContainerState;
  restarts?: number;
  ready?: boolean;
  ageSeconds?: number;
  ips?: string[];
  usage?: [cpu: number, memoryMib: number];
  limits?: { cpu?: string; memory?: string };
  container?: Partial<Container>;
  spec?: Partial<PodSpec>;
  status?: Partial<PodStatus>;
  events?: [reason: string, message: string, count?: number, type?: "Normal" | "Warning"][];
  volumes?: PodFacts["volumes"];
}

export function examplePod(now: number, wanted: Wanted): ExamplePod {
  const { name, namespace = "default", image = `registry.example/${name}:1.4`, ageSeconds = 8000, usage } = wanted;
  const state = wanted.state ?? { running: { startedAt: at(now, ageSeconds) } };
  const ready = wanted.ready ?? state.running !== undefined;
  const uid = podUid(`uid-${namespace}-${name}`);
  const container: ApiContainerStatus = {
    ...{ name: "app", image, imageID: `sha256:${"0".repeat(60)}`, state, ready, started: ready },
    lastState: {},
    restartCount: wanted.restarts ?? 0,
    containerID: `containerd://${uid}-${wanted.restarts ?? 0}`,
  };
  const seenAt = now - ageSeconds * 1000;
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, uid, labels: { app: name } },
    spec: {
      containers: [
        {
          ...{ name: "app", image },
          ...(wanted.limits && { resources: { limits: wanted.limits, requests: wanted.limits } }),
          ...wanted.container,
        },
      ],
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 30,
      ...wanted.spec,
    },
    status: {
      phase: "Running",
      startTime: at(now, ageSeconds),
      podIPs: (wanted.ips ?? ["10.88.0.7"]).map((ip) => ({ ip })),
      qosClass: "Burstable",
      conditions: ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map((type) => ({
        type,
        status: ready || /Sched|Init/.test(type) ? ("True" as const) : ("False" as const),
        lastTransitionTime: at(now, ageSeconds - 3),
        ...(!ready &&
          /Ready/.test(type) && { reason: "ContainersNotReady", message: "containers with unready status: [app]" }),
      })),
      containerStatuses: [container],
      ...wanted.status,
    },
  };
  const events = (wanted.events ?? []).map(([reason, message, count = 1, type = "Normal"], index): Event => ({
    metadata: { name: `${name}.${index}`, namespace },
    involvedObject: { kind: "Pod", name, uid, fieldPath: "spec.containers{app}" },
    ...{ reason, message, count, type },
    source: { component: "kubelet", host: "node-1" },
    firstTimestamp: new Date(seenAt + (index + 1) * 1000).toISOString(),
    lastTimestamp: at(now, 30 - index),
    reportingComponent: "kubelet",
    reportingInstance: "node-1",
  }));
  const stage = (what: string, from: number, to: number, of?: string) => ({
    ...{ stage: what, startedAt: seenAt + from, endedAt: seenAt + to, durationMs: to - from },
    ...(of !== undefined && { container: of }),
  });
  return {
    pod,
    ...(usage && {
      usage: {
        ...{ cpu: usage[0], memory: usage[1] * MIB },
        containers: [{ name: "app", cpu: usage[0], memory: usage[1] * MIB }],
      },
    }),
    facts: { uid, worker: "syncing", startFailures: [], volumes: wanted.volumes ?? [] },
    timeline: {
      ...{ namespace, name, uid, seenAt, runningAt: seenAt + 910, stagesDropped: 0, events },
      phases: [
        { at: seenAt + 2, phase: "Pending" },
        { at: seenAt + 915, phase: "Running" },
      ],
      stages: [
        stage("admission", 1, 4),
        stage("volumes", 4, 60),
        stage("create-sandbox", 4, 320),
        stage("pull", 320, 690, "app"),
        stage("create-container", 690, 760, "app"),
        stage("start-container", 760, 905, "app"),
      ],
    },
  };
}

export function exampleNode(now: number): ExampleNode {
  const crashed = { exitCode: 1, reason: "Error", startedAt: at(now, 40), finishedAt: at(now, 38) };
  const pods = [
    examplePod(now, {
      name: "web",
      usage: [0.084, 118],
      limits: { cpu: "500m", memory: "256Mi" },
      ips: ["10.88.0.5", "fd00:88::5"],
    }),
    examplePod(now, {
      ...{ name: "shop", restarts: 6, ready: false, ageSeconds: 620, limits: { cpu: "1", memory: "128Mi" } },
      state: { waiting: { reason: "CrashLoopBackOff", message: "back-off 2m40s restarting failed container=app" } },
      container: {
        env: [
          { name: "DATABASE_URL", valueFrom: { secretKeyRef: { name: "shop-db", key: "url" } } },
          { name: "LOG_LEVEL", value: "info" },
        ],
        envFrom: [{ configMapRef: { name: "shop" } }],
        ports: [{ name: "http", containerPort: 8080 }],
        volumeMounts: [
          { name: "data", mountPath: "/var/lib/shop" },
          { name: "conf", mountPath: "/etc/shop", readOnly: true },
        ],
        livenessProbe: { httpGet: { path: "/healthz", port: 8080 }, periodSeconds: 5 },
        securityContext: { runAsUser: 1000, readOnlyRootFilesystem: true },
      },
      spec: {
        volumes: [
          { name: "data", emptyDir: {} },
          { name: "conf", configMap: { name: "shop" } },
        ],
      },
      events: [
        ["Pulled", 'Container image "registry.example/shop:1.4" already present on machine', 7],
        ["Created", "Created container: app", 7],
        ["Started", "Started container app", 7],
        ["BackOff", "Back-off restarting failed container app in pod shop_default", 12, "Warning"],
      ],
      volumes: [
        { name: "data", plugin: "kubernetes.io/empty-dir", mounted: true },
        { name: "conf", plugin: "kubernetes.io/configmap", mounted: true },
      ],
    }),
    examplePod(now, {
      ...{ name: "report", namespace: "jobs", ready: false, ageSeconds: 95, ips: ["10.88.0.11"] },
      state: { waiting: { reason: "ImagePullBackOff", message: 'Back-off pulling image "registry.example/report:2"' } },
    }),
    examplePod(now, { name: "queue", usage: [0.41, 487], limits: { memory: "512Mi" }, ips: ["10.88.0.8"] }),
    examplePod(now, {
      name: "coredns",
      namespace: "kube-system",
      usage: [0.003, 24],
      ageSeconds: 90_000,
      ips: ["10.88.0.2"],
    }),
    examplePod(now, {
      name: "kube-proxy",
      namespace: "kube-system",
      usage: [0.001, 31],
      ageSeconds: 90_000,
      ips: ["192.0.2.10"],
    }),
    examplePod(now, {
      ...{ name: "backup", namespace: "jobs", ageSeconds: 12, ready: false, ips: [] },
      state: { waiting: { reason: "ContainerCreating" } },
    }),
    examplePod(now, {
      name: "metrics",
      namespace: "monitoring",
      usage: [0.052, 203],
      limits: { cpu: "200m", memory: "300Mi" },
      ips: ["10.88.0.9"],
    }),
  ];
  const shop = pods.find(({ pod }) => pod.metadata.name === "shop")?.pod.status?.containerStatuses?.[0];
  if (shop !== undefined) shop.lastState = { terminated: { ...crashed, containerID: shop.containerID ?? "" } };
  const threads = ["main", "pleg", "prober", "server", "log", "eviction"].map((name): ThreadFacts => ({
    ...{ name, state: "running", starts: 1, lastTickMs: 120, loopDelayMaxMs: 9, queued: 0 },
  }));
  const resources = { cpu: "4", memory: "16384Mi", "ephemeral-storage": "120Gi", "hugepages-2Mi": "0", pods: "110" };
  return {
    status: {
      now,
      ...{
        node: "node-1",
        kubernetesVersion: "v1.36.0",
        nodeVersion: "v24.21.0",
        pid: 812,
        rootDir: "/var/lib/kubelet",
      },
      runtimeEndpoint: "unix:///run/containerd/containerd.sock",
      threads,
      certificates: [{ use: "serving", file: "/var/lib/kubelet/pki/kubelet.crt", notAfter: now + 300 * 86_400_000 }],
      facts: {
        startedAt: now - 90_000_000,
        runtime: {
          ...{ reachable: true, runtimeReady: true, networkReady: true, events: true },
          ...{ name: "containerd", version: "2.1.9", message: "" },
        },
        runtimeSince: now - 90_000_000,
        pressures: [],
        addresses: ["192.0.2.10", "2001:db8::10"],
        capacity: resources,
        allocatable: { ...resources, cpu: "3800m", memory: "15Gi" },
        hungMounts: [],
        settled: true,
      },
      devicePluginProblem: "",
    },
    threads,
    samples: Array.from({ length: SAMPLES }, (_, index): UsageSample => {
      const wave = Math.sin(index / 23) + Math.sin(index / 7) / 3;
      return {
        at: now - (SAMPLES - 1 - index) * SAMPLE_MS,
        cpus: Math.round((1.1 + wave / 2) * 100) / 100,
        memory: Math.round((6.2 + wave / 3) * GIB),
        disk: Math.round((41 + index / 200) * GIB),
        processes: 212 + Math.round(wave * 9),
        kubelet: Math.round((171 + wave) * MIB),
      };
    }),
    machine: { cpus: 4, memory: 16 * GIB, disk: 120 * GIB, processes: 32_768 },
    host: {
      ...{ osImage: "Debian GNU/Linux 13 (trixie)", kernel: "6.12.43+deb13-amd64", platform: "linux/amd64" },
      ...{ bootedAt: now - 90_060_000, load: [1.24, 1.02, 0.87], swap: 0 },
    },
    events: [],
    images: {
      images: [
        {
          id: "sha256:1",
          names: ["registry.example/web:1.4"],
          sizeBytes: 84 * MIB,
          pinned: false,
          usedBy: ["default/web"],
        },
        { id: "sha256:2", names: ["registry.k8s.io/pause:3.10"], sizeBytes: 0.7 * MIB, pinned: true, usedBy: [] },
      ],
      fileSystem: { usedBytes: 41 * GIB, availableBytes: 79 * GIB, capacityBytes: 120 * GIB },
    },
    pods,
    configz: JSON.stringify({ kubeletconfig: { maxPods: 110 }, origins: { maxPods: { kind: "default" } } }),
    log: "starting\nlistening on port 8080\nFATAL: no connection to the database\n",
  };
}
