// The CRI floor: the same RunPodSandbox, CreateContainer and StartContainer calls made bare, and nothing else.
import { systemClock } from "../../src/shared/clock/clock.js";
import { createCriClient, type CriClient } from "../../src/shared/cri/client.js";
import { BUSYBOX_IMAGE } from "../../packaging/standalone/images.js";
import { MARKING_SCRIPT, type Marks } from "./marks.js";

export class CriFloor {
  private readonly cri: CriClient;
  private readonly sandboxes: string[] = [];

  constructor(
    endpoint: string,
    private readonly cgroupParent: string,
    private readonly logs: string,
    private readonly marks: Marks,
  ) {
    this.cri = createCriClient({ endpoint, runtimeRequestTimeoutMs: 120_000, clock: systemClock });
  }

  /** Milliseconds from the first call to the process inside the container, all pods at once. */
  async start(names: readonly string[]): Promise<number[]> {
    const image = await this.cri.imageStatus({ image: { image: BUSYBOX_IMAGE } });
    const startedAt = performance.now();
    return Promise.all(
      names.map(async (name) => {
        await this.pod(name, image.image?.id ?? "");
        return (await this.marks.at(`${name}.start.0`)) - startedAt;
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

  private async pod(name: string, image: string): Promise<void> {
    const config = {
      metadata: { name, namespace: "floor", uid: name, attempt: 0 },
      logDirectory: `${this.logs}/${name}`,
      linux: { cgroupParent: this.cgroupParent, securityContext: {} },
    };
    const { podSandboxId } = await this.cri.runPodSandbox({ config });
    this.sandboxes.push(podSandboxId);
    const { containerId } = await this.cri.createContainer({
      podSandboxId,
      sandboxConfig: config,
      config: {
        metadata: { name: "main", attempt: 0 },
        image: { image },
        command: ["sh", "-c", MARKING_SCRIPT],
        envs: [{ key: "N", value: new TextEncoder().encode(name) }],
        mounts: [{ containerPath: "/marks", hostPath: this.marks.directory }],
        logPath: "main/0.log",
        linux: { resources: {}, securityContext: {} },
      },
    });
    await this.cri.startContainer({ containerId });
  }
}
