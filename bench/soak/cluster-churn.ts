// The cluster's changes on a node throughout the soak. Pods are resized in place, created and deleted, or complete.
// ConfigMaps and Secrets of pods change. Images are pulled again, or do not exist.

import type { CriClient } from "../../src/shared/kubernetes/cri/client.js";
import type { ApiKit, ApiObject, Fields } from "../../test/support/api-kit.js";
import type { TestRegistry } from "../../test/support/registry.js";
import { BUSYBOX_IMAGE } from "../../tools/standalone/images.js";
import { NAMESPACE, NODE_NAME } from "../lib/cluster-under-test.js";
import type { Activity } from "./activity.js";

const PATIENCE_MS = 60_000;
const IDLE = "trap 'exit 0' TERM; while true; do sleep 3600 & wait $!; done";

interface SeenStatus {
  phase?: string;
  containerStatuses?: {
    ready: boolean;
    state: { waiting?: { reason?: string } };
    resources?: { limits?: Record<string, string> };
  }[];
}
const statusOf = (pod: ApiObject | undefined): SeenStatus => pod?.status ?? {};
const containerOf = (pod: ApiObject | undefined) => statusOf(pod).containerStatuses?.[0];
const runs = (pod: ApiObject | undefined): boolean => containerOf(pod)?.ready === true;

abstract class PodsOfCluster implements Activity {
  abstract readonly name: string;
  readonly pauseMs: number = 1000;
  protected serial = 0;

  constructor(
    protected readonly api: ApiKit,
    private readonly nodeName: string = NODE_NAME,
  ) {}

  abstract round(): Promise<void>;

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }

  protected create(name: string, container: Fields, spec: Fields = {}): Promise<ApiObject> {
    const app = { name: "app", image: BUSYBOX_IMAGE, imagePullPolicy: "IfNotPresent", command: ["sh", "-c", IDLE] };
    return this.api.create("pods", {
      metadata: { name, namespace: NAMESPACE },
      spec: {
        nodeName: this.nodeName,
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 2,
        containers: [{ ...app, ...container }],
        ...spec,
      },
    });
  }

  protected until(name: string, holds: (pod: ApiObject | undefined) => boolean, what: string): Promise<unknown> {
    const wait = { what: `pod ${name} to be ${what}`, timeoutMs: PATIENCE_MS };
    return this.api.waitFor("pods", NAMESPACE, name, holds, wait);
  }

  protected async remove(name: string): Promise<void> {
    await this.api.delete("pods", NAMESPACE, name);
    await this.until(name, (pod) => pod === undefined, "gone");
  }
}

/** One pod that is given more and less CPU and memory while it runs. */
export class Resizes extends PodsOfCluster {
  readonly name = "resizes in place";
  private readonly pod = "resized";

  async round(): Promise<void> {
    const { api, pod } = this;
    const share = 1 + (++this.serial % 5);
    const size = { cpu: `${share * 10}m`, memory: `${32 + share}Mi` };
    const resources = { requests: size, limits: size };
    if ((await api.find("pods", NAMESPACE, pod)) === undefined) {
      await this.create(pod, { resources });
      await this.until(pod, runs, "running");
      return;
    }
    const spec = { containers: [{ name: "app", resources }] };
    await api.patch("pods", NAMESPACE, pod, { spec }, { subresource: "resize" });
    await this.until(
      pod,
      (seen) => containerOf(seen)?.resources?.limits?.["cpu"] === size.cpu,
      `resized to ${size.cpu}`,
    );
  }
}

/** A config map and a secret that change under a pod, which is replaced now and then. */
export class ConfigChanges extends PodsOfCluster {
  readonly name = "config map changes";
  private readonly pod = "configured";

  async round(): Promise<void> {
    const { api, pod } = this;
    const serial = ++this.serial;
    const data = { version: String(serial), text: "x".repeat(100 + ((serial * 997) % 50_000)) };
    await this.put("configmaps", { data });
    await this.put("secrets", { data: { token: Buffer.from(data.version).toString("base64") } });
    if (serial % 10 !== 1) return;
    if ((await api.find("pods", NAMESPACE, pod)) !== undefined) await this.remove(pod);
    const volumeMounts = [
      { name: "config", mountPath: "/config" },
      { name: "secret", mountPath: "/secret" },
    ];
    const env = [{ name: "VERSION", valueFrom: { configMapKeyRef: { name: pod, key: "version" } } }];
    const volumes = [
      { name: "config", configMap: { name: pod } },
      { name: "secret", secret: { secretName: pod } },
    ];
    await this.create(pod, { env, volumeMounts }, { volumes });
    await this.until(pod, runs, "running");
  }

  private async put(resource: string, content: Fields): Promise<void> {
    const { api, pod } = this;
    const known = await api.find(resource, NAMESPACE, pod);
    if (known === undefined) await api.create(resource, { metadata: { name: pod, namespace: NAMESPACE }, ...content });
    else await api.update(resource, { ...known, ...content });
  }
}

/** Pods that run to their end, well or badly, and go. */
export class Jobs extends PodsOfCluster {
  readonly name = "jobs";

  async round(): Promise<void> {
    const serial = ++this.serial;
    const name = `job-${serial}`;
    const script = `echo round ${serial} | tee /dev/termination-log; exit ${serial % 2}`;
    await this.create(name, { command: ["sh", "-c", script] }, { restartPolicy: "Never" });
    const phase = serial % 2 === 0 ? "Succeeded" : "Failed";
    await this.until(name, (pod) => statusOf(pod).phase === phase, phase);
    await this.remove(name);
  }
}

/** An image that the node does not have is pulled, used and removed; every fourth is in no registry. */
export class Pulls extends PodsOfCluster {
  readonly name = "image pulls";

  constructor(
    api: ApiKit,
    private readonly registry: TestRegistry,
    private readonly cri: CriClient,
    private readonly tags: readonly string[],
  ) {
    super(api);
  }

  async round(): Promise<void> {
    const serial = ++this.serial;
    const name = `pulled-${serial}`;
    const lost = serial % 4 === 0;
    const tag = lost ? "lost" : (this.tags[serial % this.tags.length] ?? "");
    const image = `${this.registry.address}/soak:${tag}`;
    await this.create(name, { image, imagePullPolicy: "Always" });
    if (lost)
      await this.until(name, (pod) => containerOf(pod)?.state.waiting?.reason === "ErrImagePull", "without image");
    else await this.until(name, runs, "running");
    await this.remove(name);
    if (!lost) await this.cri.removeImage({ image: { image } });
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.registry.stop();
  }
}
