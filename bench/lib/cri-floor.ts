// The CRI floor: the same RunPodSandbox, CreateContainer and StartContainer requests that the kubelet sends, made bare
// and in the same order. Files that the kubelet makes on the way (hosts file, termination log) lie ready before the
// clock starts.
// Invariant: while pods of the floor exist, the kubelet under test is stopped by SIGSTOP. Upstream's kubelet ends every
// pod of the runtime that it does not know.

import { mkdir, writeFile } from "node:fs/promises";
import { containerConfig } from "../../src/main/containers/runtime/config/container-config.js";
import { containerMounts } from "../../src/main/containers/runtime/config/mounts.js";
import { sandboxConfig } from "../../src/main/containers/runtime/config/sandbox-config.js";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import type { Container, Pod } from "../../src/shared/kubernetes/api/pod.js";
import { createCriClient, type CriClient } from "../../src/shared/kubernetes/cri/client.js";
import {
  ContainerState,
  LinuxContainerResources,
  type PodSandboxConfig,
} from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podUid } from "../../src/shared/kubernetes/identifiers.js";
import { BUSYBOX_IMAGE } from "../../tools/standalone/images.js";
import { markingPod } from "./manifests.js";
import type { Marks } from "./marks.js";

/** BestEffort: shares 2, the highest OOM score. */
const RESOURCES = { cpuShares: 2n, cpuPeriod: 100_000n, oomScoreAdj: 1000n };

/** As the manifests of the bench have it. */
const GRACE_SECONDS = 10n;

interface Prepared {
  pod: Pod;
  sandbox: PodSandboxConfig;
  /** Mounts of each container, by the container's name. */
  mounts: Map<string, ReturnType<typeof containerMounts>>;
}

export class CriFloor {
  private readonly cri: CriClient;
  private readonly sandboxes: string[] = [];

  constructor(
    endpoint: string,
    private readonly cgroupParent: string,
    private readonly files: string,
    private readonly marks: Marks,
    private readonly kubeletPid: () => number | undefined,
  ) {
    this.cri = createCriClient({ endpoint, runtimeRequestTimeoutMs: 120_000, clock: systemClock });
  }

  /** Milliseconds from the first call to the process inside the container, all pods at once. */
  async start(names: readonly string[]): Promise<number[]> {
    const pods = names.map((name) => markingPod(name, this.marks.directory) as Pod);
    return this.startPods(pods, (pod) => [`${pod.metadata.name}.start.0`]);
  }

  /** Milliseconds from the first call to the last of each pod's marks, all pods at once. */
  async startPods(pods: readonly Pod[], marksOf: (pod: Pod) => string[]): Promise<number[]> {
    const image = (await this.cri.imageStatus({ image: { image: BUSYBOX_IMAGE } })).image?.id ?? "";
    const prepared = await Promise.all(pods.map((pod) => this.prepare(pod)));
    this.signalKubelet("SIGSTOP");
    const startedAt = performance.now();
    return Promise.all(
      prepared.map(async (one) => {
        await this.run(one, image);
        const marks = await Promise.all(marksOf(one.pod).map((mark) => this.marks.at(mark)));
        return Math.max(...marks) - startedAt;
      }),
    );
  }

  /**
   * Milliseconds from the first call to the last answer, of each pod made so far: its containers and its sandbox end.
   */
  async end(): Promise<number[]> {
    const { containers } = await this.cri.listContainers({});
    const took = await Promise.all(
      this.sandboxes.splice(0).map(async (podSandboxId) => {
        const ids = containers.filter((one) => one.podSandboxId === podSandboxId).map(({ id }) => id);
        const startedAt = performance.now();
        await Promise.all(ids.map((containerId) => this.cri.stopContainer({ containerId, timeout: GRACE_SECONDS })));
        await this.cri.stopPodSandbox({ podSandboxId });
        await Promise.all(ids.map((containerId) => this.cri.removeContainer({ containerId })));
        await this.cri.removePodSandbox({ podSandboxId });
        return performance.now() - startedAt;
      }),
    );
    this.signalKubelet("SIGCONT");
    return took;
  }

  /** Removes every sandbox made so far. */
  async clear(): Promise<void> {
    await Promise.all(
      this.sandboxes.splice(0).map(async (podSandboxId) => {
        await this.cri.stopPodSandbox({ podSandboxId });
        await this.cri.removePodSandbox({ podSandboxId });
      }),
    );
    this.signalKubelet("SIGCONT");
  }

  close(): void {
    this.signalKubelet("SIGCONT");
    this.cri.close();
  }

  private signalKubelet(signal: "SIGSTOP" | "SIGCONT"): void {
    const pid = this.kubeletPid();
    if (pid !== undefined) process.kill(pid, signal);
  }

  private async prepare(manifest: Pod): Promise<Prepared> {
    const { name } = manifest.metadata;
    const pod: Pod = { ...manifest, metadata: { ...manifest.metadata, namespace: "floor", uid: podUid(name) } };
    const directory = `${this.files}/${name}`;
    await mkdir(directory, { recursive: true });
    await Promise.all(["etc-hosts", "termination-log"].map((file) => writeFile(`${directory}/${file}`, "")));
    const sandbox = sandboxConfig({
      pod,
      attempt: 0,
      hostname: name,
      dns: { servers: [], searches: [], options: [] },
      logDirectory: `${directory}/logs`,
      cgroupParent: `${this.cgroupParent}/pod${name}`,
    });
    sandbox.labels = {};
    const mountsOf = (container: Container): ReturnType<typeof containerMounts> =>
      containerMounts({
        pod,
        container,
        volumes: new Map([["marks", { hostPath: this.marks.directory }]]),
        seLinux: false,
        etcHostsPath: `${directory}/etc-hosts`,
        terminationLogPath: `${directory}/termination-log`,
      });
    return { pod, sandbox, mounts: new Map(allOf(pod).map((one) => [one.name, mountsOf(one)])) };
  }

  private async run(prepared: Prepared, image: string): Promise<void> {
    const { pod, sandbox } = prepared;
    const { podSandboxId } = await this.cri.runPodSandbox({ config: sandbox });
    this.sandboxes.push(podSandboxId);
    for (const container of allOf(pod)) {
      const containerId = await this.startContainer(prepared, container, podSandboxId, image);
      const runsOn = container.restartPolicy === "Always" || pod.spec.containers.includes(container);
      if (!runsOn) await this.ended(containerId, `${markName(container)}.end`);
    }
  }

  private async startContainer(
    { pod, sandbox, mounts }: Prepared,
    container: Container,
    podSandboxId: string,
    image: string,
  ): Promise<string> {
    const config = containerConfig({
      pod,
      container,
      kind: pod.spec.containers.includes(container) ? "app" : "init",
      restartCount: 0,
      imageRef: image,
      imageUser: {},
      env: new Map([["N", markName(container)]]),
      mounts: mounts.get(container.name) ?? [],
      resources: LinuxContainerResources.fromPartial(RESOURCES),
      seccompDefault: false,
      thermalThrottlePaths: [],
      volumeGroups: [],
      seccompProfileRoot: this.files,
    });
    config.labels = {};
    const { containerId } = await this.cri.createContainer({ podSandboxId, sandboxConfig: sandbox, config });
    await this.cri.startContainer({ containerId });
    return containerId;
  }

  /** Its last act is a mark; from then on the runtime is asked without a pause whether it has ended. */
  private async ended(containerId: string, mark: string): Promise<void> {
    await this.marks.at(mark);
    for (;;) {
      const { status } = await this.cri.containerStatus({ containerId, verbose: false });
      if (status?.state === ContainerState.CONTAINER_EXITED) return;
    }
  }
}

/** In the order in which they start. */
function allOf({ spec }: Pod): Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers];
}

/** The bench's containers carry the name of their marks in `N`. */
function markName({ name, env = [] }: Container): string {
  const value = env.find((one) => one.name === "N")?.value;
  if (value === undefined) throw new Error(`container ${name} of the bench has no name for its marks: set N`);
  return value;
}
