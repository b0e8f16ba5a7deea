// The runtime verbs on the fake runtime and a real temporary root; cgroups and volumes are small fakes in memory.

import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { nodeImages } from "../../../../src/main/containers/images/node-images.js";
import type { NodeRuntime } from "../../../../src/main/containers/runtime/node-runtime.js";
import { SandboxesAhead } from "../../../../src/main/containers/runtime/sandboxes-ahead.js";
import { UserNamespaces } from "../../../../src/main/containers/user-namespaces/user-namespaces.js";
import type { StartContainerStep } from "../../../../src/main/model/step.js";
import type { VolumePlace } from "../../../../src/main/volumes/place.js";
import type { Container, Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import type { CriClient } from "../../../../src/shared/kubernetes/cri/client.js";
import { podUid, type PodUid, sandboxIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import type { FakeCri, FakeCriOptions } from "../../../fake-cri/fake-cri.js";
import { pair } from "../../../shared/kubernetes/cri/support.js";
import { peerActions } from "../../../support/probe-kit.js";
import { noEvents, silentLog } from "../../../support/silent.js";
import { noTrace } from "../../../support/silent.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

export const BUSYBOX = "nodelet.local/busybox:1";
export const never = new AbortController().signal;

export interface RuntimeWorld {
  runtime: NodeRuntime;
  fake: FakeCri;
  client: CriClient;
  clock: SteppedClock;
  kept: ReturnType<typeof keptLog>;
  root: string;
  /** UIDs with a cgroup. */
  cgroups: Set<string>;
  /** Errors that the next call of each fails with. */
  failures: { cgroup?: Error | undefined; setUp?: Error | undefined; tearDown?: Error | undefined };
  /** Calls of the metrics. */
  counted: string[];
  /** "POD CONTAINER TYPE REASON: MESSAGE". */
  events: string[];
  /** Calls of a verb that reached the runtime. */
  calls: (verb: string) => unknown[];
}

export async function runtimeOn(t: TestContext, fakeOptions: Partial<FakeCriOptions> = {}): Promise<RuntimeWorld> {
  const { fake, client } = await pair(t, fakeOptions);
  const root = await temporaryFolder(t);
  const clock = new SteppedClock();
  const kept = keptLog();
  const cgroups = new Set<PodUid>();
  const failures: RuntimeWorld["failures"] = {};
  const counted: string[] = [];
  const events: string[] = [];
  const podDirectory = (uid: string): string => join(root, "pods", uid);
  const runtime: NodeRuntime = {
    cri: client,
    clock,
    log: kept.log,
    trace: noTrace,
    hooks: { runHook: (hook, signal) => peerActions().hook(hook, signal) },
    images: nodeImages(
      {
        rootDir: root,
        serializeImagePulls: true,
        maxParallelImagePulls: undefined,
        registryPullQPS: 0,
        registryBurst: 1,
        kubeletEnsureSecretPulledImages: false,
        imagePullCredentialsVerificationPolicy: "NeverVerify",
        preloadedImagesVerificationAllowlist: [],
        maxPods: 110,
        runtimeClassInImageCriApi: false,
      },
      {
        cri: client,
        clock,
        log: kept.log,
        events: noEvents,
        trace: noTrace,
        registry: new ThreadRegistry("main"),
        runtimeHandler: () => Promise.resolve(""),
      },
    ),
    events: {
      pod: ({ metadata }, { type, reason, message, container = "" }) =>
        events.push(`${metadata.name} ${container} ${type} ${reason}: ${message}`),
      node: ({ type, reason, message }) => events.push(`node ${type} ${reason}: ${message}`),
    },
    cgroups: {
      version: 1,
      setUp: () => Promise.resolve(),
      ensurePod: (pod) => {
        if (failures.cgroup !== undefined) return Promise.reject(failures.cgroup);
        cgroups.add(pod.metadata.uid);
        return Promise.resolve({
          criParent: `/kubepods/pod${pod.metadata.uid}`,
          watchDirs: [`/cgroup/${pod.metadata.uid}`],
        });
      },
      podExists: (uid) => Promise.resolve(cgroups.has(uid)),
      removePod: (uid) => Promise.resolve(void cgroups.delete(uid)),
      listPods: () => Promise.resolve([...cgroups]),
      updateQos: () => Promise.resolve(),
      isLost: (pod) => Promise.resolve(!cgroups.has(pod.metadata.uid)),
      limitPods: () => Promise.resolve(),
      limitExisting: () => Promise.resolve(),
      tearDown: () => Promise.resolve(),
    },
    managers: {
      ensure: () => Promise.resolve(),
      grant: () => ({}),
      preStart: () => Promise.resolve(),
      started: () => undefined,
    },
    userNamespaces: new UserNamespaces(
      { rootDir: root, idsPerPod: 65_536, maxPods: 110, run: () => Promise.resolve(undefined) },
      { observed: () => Promise.resolve([]), log: silentLog },
    ),
    volumes: {
      areSetUp: () => true,
      onSetUp: () => undefined,
      setUpPod: async (pod) => {
        if (failures.setUp !== undefined) throw failures.setUp;
        const found = new Map<string, VolumePlace>();
        for (const { name, image } of pod.spec.volumes ?? []) {
          if (image !== undefined) {
            found.set(name, { image });
            continue;
          }
          const path = join(podDirectory(pod.metadata.uid), "volumes", "fake", name);
          await mkdir(path, { recursive: true });
          found.set(name, { hostPath: path });
        }
        return found;
      },
      podChanged: () => undefined,
      refreshPod: () => undefined,
      stop: () => Promise.resolve(),
      prepareSubPath: ({ volumePath, subPath }) => Promise.resolve(join(volumePath, subPath)),
      describe: () => [],
      tearDownPod: (uid) => {
        if (failures.tearDown !== undefined) return Promise.reject(failures.tearDown);
        return rm(join(podDirectory(uid), "volumes"), { recursive: true, force: true });
      },
      removePodDirectory: async (uid) => {
        if (failures.tearDown !== undefined) throw failures.tearDown;
        await rm(podDirectory(uid), { recursive: true, force: true });
      },
      listPods: async () => (await readdir(join(root, "pods"))).map(podUid),
    },
    sandboxesAhead: new SandboxesAhead(1),
    node: {
      nodeName: "node-1",
      nodeIPs: ["192.0.2.10"],
      memoryBytes: 8n * 1024n ** 3n,
      cpuCount: 2,
      allocatable: { cpu: "2", memory: "8Gi" },
      cgroupVersion: 1,
      swapController: false,
      hugePageSizes: [],
      seLinux: false,
      thermalThrottlePaths: ["/sys/devices/system/cpu/cpu0/thermal_throttle"],
    },
    settings: {
      rootDir: root,
      podLogsDir: join(root, "log", "pods"),
      containerLogsDir: join(root, "log", "containers"),
      clusterDomain: "cluster.local",
      seccompDefault: false,
      cpuCFSQuota: true,
      kubernetesVersion: "v1.36.0",
      containerStopSignals: false,
      imageVolumeWithDigest: false,
      changeContainerStatusOnKubeletRestart: false,
      envFiles: true,
      maximumDeadContainersPerContainer: 1,
    },
    dns: () =>
      Promise.resolve({
        inCluster: true,
        clusterDNS: ["192.0.2.53"],
        clusterDomain: "cluster.local",
        nodeIPs: ["192.0.2.10"],
        host: { servers: ["192.0.2.53"], searches: [], options: [] },
      }),
    metrics: {
      httpHookFellBack: () => counted.push("http fallback"),
      sandboxRun: (_ms, ok) => counted.push(`sandbox ${ok ? "ok" : "failed"}`),
      imageVolumes: (what, count) => {
        if (count > 0) counted.push(`image volume ${what}`);
      },
      containerStarted: (kind) => counted.push(`${kind} started`),
      sleepCutShort: () => counted.push("sleep cut short"),
      containerStartFailed: (kind, reason) => counted.push(`${kind} ${reason}`),
      userNamespacedPodFailed: () => counted.push("user namespace"),
    },
  };
  const calls = (verb: string): unknown[] =>
    fake.calls.filter((call) => call.verb === verb).map((call) => call.request);
  return { runtime, fake, client, clock, kept, root, cgroups, failures, counted, events, calls };
}

export function app(fields: Partial<Container> = {}): Container {
  return { name: "app", image: BUSYBOX, imagePullPolicy: "IfNotPresent", ...fields };
}

export function startStep(
  container: Container,
  sandboxId: string,
  fields: Partial<StartContainerStep> = {},
): StartContainerStep {
  return {
    kind: "start-container",
    container,
    containerKind: "app",
    sandboxId: sandboxIdOf(sandboxId),
    sandboxAttempt: 0,
    podIPs: ["10.88.0.2"],
    restartCount: undefined,
    reason: "it has not run yet",
    ...fields,
  };
}

export function podOf(container: Container, fields: Partial<Pod["spec"]> = {}): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "default", uid: podUid("uid-web") },
    spec: { containers: [container], restartPolicy: "Always", terminationGracePeriodSeconds: 30, ...fields },
  };
}
