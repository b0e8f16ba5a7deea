// A node in a cluster with a DRA driver and a fake runtime. The runtime keeps the CDI devices of each container.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Fields } from "../../fake-api/fake-api.js";
import { startFakeCri, type FakeCri } from "../../fake-cri/fake-cri.js";
import { testImage } from "../../harness/node.js";
import { boundPod, NODE_NAME } from "../cluster-node.js";
import { settled, startFaultyCluster, type FaultyCluster } from "../faulty-cluster.js";
import { allocatedClaim } from "./claim.js";
import { TestDraDriver, type TestDraDriverOptions } from "./driver.js";

const DRIVER = "gpu.example.com";
const GATES = { GenericWorkload: true, DRAWorkloadResourceClaims: true };

export class DraCluster {
  private constructor(
    private readonly dir: string,
    readonly fake: FakeCri,
    readonly cluster: FaultyCluster,
    readonly driver: TestDraDriver,
  ) {}

  /** Resolves when the driver is registered. */
  static async start(healthService?: TestDraDriverOptions["healthService"]): Promise<DraCluster> {
    const dir = await mkdtemp(join(tmpdir(), "nodelet-dra-"));
    const fake = await startFakeCri({ socketPath: join(dir, "cri.sock"), images: [testImage()] });
    const cluster = await startFaultyCluster({
      node: { config: { containerRuntimeEndpoint: fake.endpoint, featureGates: GATES } },
    });
    const { rootDir } = cluster.node.kubelet;
    const driver = await TestDraDriver.start({ name: DRIVER, rootDir, ...(healthService && { healthService }) });
    await settled("the driver to be registered", () =>
      driver.statuses.some(({ pluginRegistered }) => pluginRegistered) ? "" : JSON.stringify(driver.statuses),
    );
    return new DraCluster(dir, fake, cluster, driver);
  }

  async stop(): Promise<void> {
    await this.driver.stop();
    await this.cluster.stop();
    await this.fake.stop();
    await rm(this.dir, { recursive: true });
  }

  /** A pod with one container that uses the claim. */
  put(name: string, claim: string): void {
    this.cluster.fixture.store.put("pods", { ...claiming(claim), metadata: { name } });
  }

  claim(name: string, user: string): void {
    const { fixture } = this.cluster;
    fixture.store.put("resourceclaims", allocatedClaim(fixture, { name, user, driver: DRIVER }));
  }

  /** A pod of a PodGroup with one container that uses the claim. */
  putInGroup(name: string, claim: string, podGroupName: string): void {
    const { spec, ...rest } = claiming(claim) as { spec: Fields };
    const pod = { ...rest, spec: { ...spec, schedulingGroup: { podGroupName } }, metadata: { name } };
    this.cluster.fixture.store.put("pods", pod);
  }

  /** Reserved for a PodGroup, and for no pod. */
  groupClaim(name: string, podGroupName: string): void {
    const { fixture } = this.cluster;
    const claim = allocatedClaim(fixture, { name, user: "", driver: DRIVER });
    const reservedFor = [{ apiGroup: "scheduling.k8s.io", resource: "podgroups", name: podGroupName, uid: "group" }];
    fixture.store.put("resourceclaims", { ...claim, status: { ...claim.status, reservedFor } });
  }

  /** A ResourceSlice of the driver on this node. */
  slice(name: string): void {
    this.cluster.fixture.store.put("resourceslices", {
      metadata: { name },
      spec: { nodeName: NODE_NAME, driver: DRIVER, pool: { name: NODE_NAME, generation: 1, resourceSliceCount: 1 } },
    });
  }

  /** CDI devices of the newest container of the pod. */
  devices(pod: string): string[] {
    return this.allDevices(pod).at(-1) ?? [];
  }

  /** CDI devices of each container of the pod, in the order of their creation. */
  allDevices(pod: string): string[][] {
    const created = this.fake.calls
      .filter(({ verb }) => verb === "CreateContainer")
      .map(({ request }) => request as Created);
    const own = created.filter(({ sandboxConfig }) => sandboxConfig?.metadata?.name === pod);
    return own.map(({ config }) => (config?.CDIDevices ?? []).map(({ name }) => name));
  }

  /** "" or the pod's events, when none has the reason and a message that matches. */
  async eventOf(pod: string, reason: string, message: RegExp): Promise<string> {
    const { items } = await this.cluster.api.list("events", "default", {
      fieldSelector: `involvedObject.name=${pod}`,
    });
    const seen = items.map((event) => `${String(event["reason"])}: ${String(event["message"])}`);
    return seen.some((line) => line.startsWith(reason) && message.test(line)) ? "" : seen.join("; ");
  }
}

interface Created {
  config?: { CDIDevices?: { name: string }[] };
  sandboxConfig?: { metadata?: { name?: string } };
}

function claiming(claim: string): Fields {
  return boundPod("", "", {
    resourceClaims: [{ name: "gpu", resourceClaimName: claim }],
    containers: [
      {
        ...{ name: "app", image: testImage(), imagePullPolicy: "Never", command: ["sleep", "3600"] },
        resources: { claims: [{ name: "gpu" }] },
      },
    ],
  });
}
