// A DRA driver of our own. Its plugin registers, prepares fictional devices with a CDI name each, records its calls,
// and fails or hangs on order.

import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  Server,
  ServerCredentials,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
} from "@grpc/grpc-js";
import {
  DRAPluginService as V1,
  type NodePrepareResourcesRequest,
  type NodePrepareResourcesResponse,
  type NodeUnprepareResourcesRequest,
  type NodeUnprepareResourcesResponse,
} from "../../../src/shared/kubernetes/plugins/gen/dra.v1.js";
import { DRAPluginService as V1Beta1 } from "../../../src/shared/kubernetes/plugins/gen/dra.v1beta1.js";
import {
  DRAResourceHealthService,
  HealthStatus,
  type NodeWatchResourcesResponse,
} from "../../../src/shared/kubernetes/plugins/gen/drahealth.v1alpha1.js";
import {
  RegistrationService,
  type PluginInfo,
  type RegistrationStatus,
} from "../../../src/shared/kubernetes/plugins/gen/pluginregistration.v1.js";

export interface TestDraDriverOptions {
  /**
   * Directory of the runtime's CDI specs: each device gets one, with a variable and a device node. Absent: none is
   * written.
   */
  cdiDir?: string;
  name: string;
  /** Root directory of the kubelet. */
  rootDir: string;
  /** Tells instances of one driver apart. */
  instance?: string;
  services?: readonly ("v1.DRAPlugin" | "v1beta1.DRAPlugin")[];
  /**
   * By which it reports health. v1 is named at the registration, as plugins of 1.37 do; v1alpha1 is not, as older ones
   * do.
   */
  healthService?: "v1.DRAResourceHealth" | "v1alpha1.DRAResourceHealth";
}

interface Hold {
  call: "prepare" | "unprepare";
  when: "before" | "after";
  reached(): void;
}

export class TestDraDriver implements AsyncDisposable {
  /** "prepare NAME,NAME" and "unprepare NAME". */
  readonly calls: string[] = [];
  readonly statuses: RegistrationStatus[] = [];
  /** The error of the replies; "": none. */
  error = "";
  /** By claim: the health that is reported of its device. Call reportHealth() after a change. */
  readonly health = new Map<string, { healthy: boolean; message?: string }>();
  /** Names of the claims whose devices are prepared. */
  readonly prepared = new Set<string>();
  /** Called for each claim before it is unprepared. */
  onUnprepare: (claim: string) => void = () => undefined;
  private hold: Hold | undefined;
  private readonly watchers = new Set<ServerWritableStream<object, NodeWatchResourcesResponse>>();
  private servers: Server[] = [];
  private plugin: Server | undefined;

  private constructor(private readonly options: TestDraDriverOptions) {}

  static async start(options: TestDraDriverOptions): Promise<TestDraDriver> {
    const driver = new TestDraDriver(options);
    await driver.start();
    return driver;
  }

  get name(): string {
    return this.options.name;
  }

  /** The CDI name of the claim's device. */
  cdiDevice(claim: string): string {
    return `${this.options.name}/device=${claim}`;
  }

  async start(): Promise<void> {
    await this.startService();
    const { services = ["v1.DRAPlugin"], healthService } = this.options;
    const named = healthService === "v1.DRAResourceHealth" ? [healthService] : [];
    const registration = new Server();
    registration.addService(RegistrationService, {
      getInfo: (_call: unknown, reply: sendUnaryData<PluginInfo>) => {
        const { name } = this.options;
        reply(null, { type: "DRAPlugin", name, endpoint: this.endpoint, supportedVersions: [...services, ...named] });
      },
      notifyRegistrationStatus: (
        { request }: ServerUnaryCall<RegistrationStatus, object>,
        reply: sendUnaryData<object>,
      ) => {
        this.statuses.push(request);
        reply(null, {});
      },
    });
    await serve(registration, this.registration);
    this.servers.push(registration);
  }

  /** The service's socket goes; the registration stays. */
  async loseService(): Promise<void> {
    this.plugin?.forceShutdown();
    await rm(this.endpoint, { force: true });
  }

  async startService(): Promise<void> {
    const { services = ["v1.DRAPlugin"], healthService = "v1alpha1.DRAResourceHealth" } = this.options;
    const plugin = new Server();
    const handlers = {
      nodePrepareResources: async (
        { request }: ServerUnaryCall<NodePrepareResourcesRequest, NodePrepareResourcesResponse>,
        reply: sendUnaryData<NodePrepareResourcesResponse>,
      ) => {
        this.calls.push(`prepare ${request.claims.map(({ name }) => name).join()}`);
        if (this.held("prepare", "before")) return;
        if (this.error === "") for (const { name } of request.claims) this.prepared.add(name);
        if (this.held("prepare", "after")) return;
        await this.writeSpec();
        const device = (name: string) => ({
          requestNames: [],
          poolName: "pool",
          deviceName: name,
          cdiDeviceIds: [this.cdiDevice(name)],
        });
        const claims = request.claims.map(({ uid, name }) => {
          const devices = this.error === "" ? [device(name)] : [];
          return [uid, { devices, error: this.error }] as const;
        });
        reply(null, { claims: Object.fromEntries(claims) });
      },
      nodeUnprepareResources: async (
        { request }: ServerUnaryCall<NodeUnprepareResourcesRequest, NodeUnprepareResourcesResponse>,
        reply: sendUnaryData<NodeUnprepareResourcesResponse>,
      ) => {
        this.calls.push(`unprepare ${request.claims.map(({ name }) => name).join()}`);
        if (this.held("unprepare", "before")) return;
        for (const { name } of this.error === "" ? request.claims : []) {
          this.onUnprepare(name);
          this.prepared.delete(name);
        }
        await this.writeSpec();
        if (this.held("unprepare", "after")) return;
        reply(null, { claims: Object.fromEntries(request.claims.map(({ uid }) => [uid, { error: this.error }])) });
      },
    };
    const { nodeWatchResources } = DRAResourceHealthService;
    const health = { nodeWatchResources: { ...nodeWatchResources, path: `/${healthService}/NodeWatchResources` } };
    plugin.addService(health, {
      nodeWatchResources: (call: ServerWritableStream<object, NodeWatchResourcesResponse>) => {
        this.watchers.add(call);
        call.on("close", () => this.watchers.delete(call));
        this.reportHealth();
      },
    });
    if (services.includes("v1.DRAPlugin")) plugin.addService(V1, handlers);
    if (services.includes("v1beta1.DRAPlugin")) plugin.addService(V1Beta1, handlers);
    await serve(plugin, this.endpoint);
    this.plugin = plugin;
    this.servers.push(plugin);
  }

  /** The next call of that kind is never answered; "after": it takes effect. Resolves when the call is there. */
  holdNext(call: Hold["call"], when: Hold["when"]): Promise<void> {
    return new Promise((reached) => {
      this.hold = { call, when, reached };
    });
  }

  /** Sends the health of all devices to the kubelets that watch it. */
  reportHealth(): void {
    const devices = [...this.health].map(([deviceName, { healthy, message = "" }]) => ({
      device: { poolName: "pool", deviceName },
      health: healthy ? HealthStatus.HEALTHY : HealthStatus.UNHEALTHY,
      lastUpdatedTime: 0n,
      healthCheckTimeoutSeconds: 600n,
      message,
    }));
    for (const watcher of this.watchers) watcher.write({ devices });
  }

  /** The plugin ends, as a pod's restart has it: its registration socket goes. */
  async stop(): Promise<void> {
    await rm(this.registration, { force: true });
    for (const server of this.servers.splice(0).reverse()) server.forceShutdown();
    await rm(this.endpoint, { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** The devices of all prepared claims: `GPU` names the claim, /dev/gpu is a character device (that of /dev/zero). */
  private async writeSpec(): Promise<void> {
    const { cdiDir, name } = this.options;
    if (cdiDir === undefined) return;
    const path = join(cdiDir, `${name}.json`);
    const devices = [...this.prepared].map((claim) => ({
      name: claim,
      containerEdits: {
        env: [`GPU=${claim}`],
        deviceNodes: [{ path: "/dev/gpu", hostPath: "/dev/zero", type: "c", major: 1, minor: 5, permissions: "rw" }],
      },
    }));
    await mkdir(cdiDir, { recursive: true });
    if (devices.length === 0) await rm(path, { force: true });
    else await writeFile(path, JSON.stringify({ cdiVersion: "0.6.0", kind: `${name}/device`, devices }));
  }

  private held(call: Hold["call"], when: Hold["when"]): boolean {
    const { hold } = this;
    if (hold?.call !== call || hold.when !== when) return false;
    this.hold = undefined;
    hold.reached();
    return true;
  }

  private get endpoint(): string {
    const { rootDir, name, instance = "one" } = this.options;
    return `${rootDir}/plugins/${name}/${instance}.sock`;
  }

  private get registration(): string {
    const { rootDir, name, instance = "one" } = this.options;
    return `${rootDir}/plugins_registry/${name}-${instance}-reg.sock`;
  }
}

async function serve(server: Server, socket: string): Promise<void> {
  await mkdir(dirname(socket), { recursive: true });
  await rm(socket, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
}
