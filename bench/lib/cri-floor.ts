// The CRI floor: the same RunPodSandbox, CreateContainer and StartContainer requests that the agent sends, made bare.
// Files that the agent makes on the way (hosts file, termination log) lie ready before the clock starts.
import { mkdir, writeFile } from "node:fs/promises";
import { systemClock } from "../../src/shared/clock/clock.js";
import type { Pod } from "../../src/shared/api/pod.js";
import { createCriClient, type CriClient } from "../../src/shared/cri/client.js";
import { LinuxContainerResources, type PodSandboxConfig } from "../../src/shared/cri/gen/runtime.v1.js";
import { containerConfig } from "../../src/main/runtime/config/container-config.js";
import { containerMounts } from "../../src/main/runtime/config/mounts.js";
import { sandboxConfig } from "../../src/main/runtime/config/sandbox-config.js";
import { BUSYBOX_IMAGE } from "../../packaging/standalone/images.js";
import { markingPod } from "./manifests.js";
import type { Marks } from "./marks.js";

/** BestEffort: shares 2, the highest OOM score. */
const RESOURCES = { cpuShares: 2n, cpuPeriod: 100_000n, oomScoreAdj: 1000n };

interface Prepared {
  name: string;
  pod: Pod;
  sandbox: PodSandboxConfig;
  mounts: ReturnType<typeof containerMounts>;
}

export class CriFloor {
  private readonly cri: CriClient;
  private readonly sandboxes: string[] = [];

  constructor(
    endpoint: string,
    private readonly cgroupParent: string,
    private readonly files: string,
    private readonly marks: Marks,
  ) {
    this.cri = createCriClient({ endpoint, runtimeRequestTimeoutMs: 120_000, clock: systemClock });
  }

  /** Milliseconds from the first call to the process inside the container, all pods at once. */
  async start(names: readonly string[]): Promise<number[]> {
    const image = (await this.cri.imageStatus({ image: { image: BUSYBOX_IMAGE } })).image?.id ?? "";
    const prepared = await Promise.all(names.map((name) => this.prepare(name)));
    const startedAt = performance.now();
    return Promise.all(
      prepared.map(async (one) => {
        await this.run(one, image);
        return (await this.marks.at(`${one.name}.start.0`)) - startedAt;
      }),
    );
  }

  /** Removes every sandbox made so far. */
  async clear(): Promise<void> {
    await Promise.all(
      this.sandboxes.splice(0).map(async (podSandboxId) => {
        await this.cri.stopPodSandbox({ podSandboxId });
        await this.cri.removePodSandbox({ podSandboxId });
      }),
    );
  }

  close(): void {
    this.cri.close();
  }

  private async prepare(name: string): Promise<Prepared> {
    const manifest = markingPod(name, this.marks.directory) as Pod;
    const pod: Pod = { ...manifest, metadata: { ...manifest.metadata, namespace: "floor", uid: name } };
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
    const [container] = pod.spec.containers;
    if (container === undefined) throw new Error("the bench pod has no container");
    const mounts = containerMounts({
      pod,
      container,
      volumes: new Map([["marks", { hostPath: this.marks.directory }]]),
      etcHostsPath: `${directory}/etc-hosts`,
      terminationLogPath: `${directory}/termination-log`,
    });
    return { name, pod, sandbox, mounts };
  }

  private async run({ name, pod, sandbox, mounts }: Prepared, image: string): Promise<void> {
    const [container] = pod.spec.containers;
    if (container === undefined) return;
    // Without the kubelet's labels the agent under test takes no notice of these pods.
    sandbox.labels = {};
    const { podSandboxId } = await this.cri.runPodSandbox({ config: sandbox });
    this.sandboxes.push(podSandboxId);
    const config = containerConfig({
      pod,
      container,
      kind: "app",
      restartCount: 0,
      imageRef: image,
      imageUser: {},
      env: new Map([["N", name]]),
      mounts,
      resources: LinuxContainerResources.fromPartial(RESOURCES),
      seccompDefault: false,
      seccompProfileRoot: this.files,
    });
    config.labels = {};
    const { containerId } = await this.cri.createContainer({ podSandboxId, sandboxConfig: sandbox, config });
    await this.cri.startContainer({ containerId });
  }
}
