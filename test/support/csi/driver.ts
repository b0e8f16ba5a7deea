// A CSI driver of our own: identity and node services on one socket, registration on another. It mounts real
// directories (bind) and loop devices, and records its calls. It fails or hangs as the test sets it. Content of a
// volume is <home>/volumes/<volume_id>, or <volume_id>.img for a device; both are made at the first call.

import { execFile } from "node:child_process";
import { mkdir, open, rm, rmdir, stat, statfs, truncate } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import {
  Server,
  ServerCredentials,
  status,
  type handleUnaryCall,
  type sendUnaryData,
  type ServerUnaryCall,
} from "@grpc/grpc-js";
import { mount } from "../../../src/shared/io/os/mount.js";
import {
  IdentityService,
  NodeService,
  NodeServiceCapability_RPC_Type as Rpc,
  VolumeUsage_Unit,
  type NodeExpandVolumeRequest,
  type NodeGetVolumeStatsRequest,
  type NodePublishVolumeRequest,
  type NodeStageVolumeRequest,
} from "../../../src/shared/kubernetes/plugins/gen/csi.v1.js";
import {
  RegistrationService,
  type PluginInfo,
  type RegistrationStatus,
} from "../../../src/shared/kubernetes/plugins/gen/pluginregistration.v1.js";
import { mountsBelow } from "../mounts.js";

const run = promisify(execFile);

export interface TestDriverOptions {
  name: string;
  /** Root directory of the kubelet: the registration socket goes to plugins_registry. */
  rootDir: string;
  /** Volumes' contents and the driver's own socket. */
  home: string;
  nodeId?: string;
  maxVolumes?: number;
  topology?: Record<string, string>;
  capabilities?: readonly (keyof typeof Rpc)[];
  versions?: readonly string[];
  /** false: calls leave no trace on disk. */
  mounts?: boolean;
}

export interface DriverCall {
  method: string;
  request: Readonly<Record<string, unknown>>;
}

/** Behaviour of a method instead of its work, or after it (`late`): fail with a status, or never respond. */
export interface Fault {
  code?: status;
  hang?: true;
  /** The work is done first. */
  late?: true;
  /** Number of times; default always. */
  times?: number;
}

const ALL: readonly (keyof typeof Rpc)[] = ["STAGE_UNSTAGE_VOLUME", "GET_VOLUME_STATS", "EXPAND_VOLUME"];

export class TestCsiDriver implements AsyncDisposable {
  readonly calls: DriverCall[] = [];
  readonly faults = new Map<string, Fault>();
  readonly statuses: RegistrationStatus[] = [];
  condition: { abnormal: boolean; message: string } | undefined;
  private servers: Server[] = [];
  private readonly loops = new Map<string, string>();

  private constructor(private readonly options: TestDriverOptions) {}

  static async start(options: TestDriverOptions): Promise<TestCsiDriver> {
    const driver = new TestCsiDriver(options);
    await driver.start();
    return driver;
  }

  get endpoint(): string {
    return `${this.options.home}/csi.sock`;
  }
  get registration(): string {
    return `${this.options.rootDir}/plugins_registry/${this.options.name}-reg.sock`;
  }

  /** Serves; the registration socket shows up last. */
  async start(): Promise<void> {
    await mkdir(`${this.options.home}/volumes`, { recursive: true });
    await mkdir(dirname(this.registration), { recursive: true });
    await this.serve(this.endpoint, (server) => {
      server.addService(IdentityService, this.identity());
      server.addService(NodeService, this.node());
    });
    await this.serve(this.registration, (server) => server.addService(RegistrationService, this.registrar()));
  }

  /** As a driver's pod that is deleted: its sockets go, its mounts stay. */
  async stop(): Promise<void> {
    const servers = this.servers;
    this.servers = [];
    for (const server of servers) server.forceShutdown();
    await rm(this.registration, { force: true });
    await rm(this.endpoint, { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    for (const device of this.loops.values()) await run("losetup", ["-d", device]).catch(() => undefined);
    this.loops.clear();
  }

  /** Names of the calls, without those that only ask. */
  did(): string[] {
    const asks = new Set(["NodeGetInfo", "NodeGetCapabilities", "GetInfo", "NotifyRegistrationStatus"]);
    return this.calls.map(({ method }) => method).filter((method) => !asks.has(method));
  }
  last(method: string): Readonly<Record<string, unknown>> | undefined {
    return this.calls.filter((call) => call.method === method).at(-1)?.request;
  }

  private async serve(socket: string, add: (server: Server) => void): Promise<void> {
    await rm(socket, { force: true });
    const server = new Server();
    add(server);
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      );
    });
    this.servers.push(server);
  }

  private handle<Request extends object, Response>(
    method: string,
    work: (request: Request) => Promise<Response>,
  ): handleUnaryCall<Request, Response> {
    return (call: ServerUnaryCall<Request, Response>, answer: sendUnaryData<Response>) => {
      this.calls.push({ method, request: Object.fromEntries(Object.entries(call.request)) });
      const fault = this.takeFault(method);
      const done = fault === undefined || fault.late === true ? work(call.request) : Promise.resolve(undefined);
      done.then(
        (response) => {
          if (fault?.hang === true) return;
          if (fault?.code !== undefined) answer({ code: fault.code, details: `${method} is told to fail` });
          else answer(null, response);
        },
        (error: unknown) => answer({ code: status.INTERNAL, details: String(error) }),
      );
    };
  }

  private takeFault(method: string): Fault | undefined {
    const fault = this.faults.get(method);
    if (fault?.times !== undefined && --fault.times <= 0) this.faults.delete(method);
    return fault;
  }

  private registrar() {
    const { name, versions = ["1.0.0"] } = this.options;
    return {
      getInfo: this.handle<object, PluginInfo>("GetInfo", () =>
        Promise.resolve({ type: "CSIPlugin", name, endpoint: this.endpoint, supportedVersions: [...versions] }),
      ),
      notifyRegistrationStatus: this.handle<RegistrationStatus, object>("NotifyRegistrationStatus", (status) => {
        this.statuses.push(status);
        return Promise.resolve({});
      }),
    };
  }

  private identity() {
    const { name } = this.options;
    return {
      getPluginInfo: this.handle("GetPluginInfo", () => Promise.resolve({ name, vendorVersion: "test", manifest: {} })),
      getPluginCapabilities: this.handle("GetPluginCapabilities", () => Promise.resolve({ capabilities: [] })),
      probe: this.handle("Probe", () => Promise.resolve({ ready: { value: true } })),
    };
  }

  private node() {
    const { nodeId = "node-1", maxVolumes = 0, topology = {}, capabilities = ALL } = this.options;
    return {
      nodeGetInfo: this.handle("NodeGetInfo", () =>
        Promise.resolve({
          nodeId,
          maxVolumesPerNode: BigInt(maxVolumes),
          accessibleTopology: { segments: topology },
        }),
      ),
      nodeGetCapabilities: this.handle("NodeGetCapabilities", () =>
        Promise.resolve({ capabilities: capabilities.map((name) => ({ rpc: { type: Rpc[name] } })) }),
      ),
      nodeStageVolume: this.handle("NodeStageVolume", async (request: NodeStageVolumeRequest) => {
        if (request.volumeCapability?.block !== undefined) await this.attachLoop(request.volumeId);
        else await this.bind(await this.content(request.volumeId), request.stagingTargetPath);
        return {};
      }),
      nodeUnstageVolume: this.handle(
        "NodeUnstageVolume",
        async (request: { volumeId: string; stagingTargetPath: string }) => {
          await this.unmount(request.stagingTargetPath);
          const device = this.loops.get(request.volumeId);
          if (device !== undefined) await run("losetup", ["-d", device]);
          this.loops.delete(request.volumeId);
          return {};
        },
      ),
      nodePublishVolume: this.handle("NodePublishVolume", async (request: NodePublishVolumeRequest) => {
        const { volumeId, stagingTargetPath, targetPath } = request;
        if (request.volumeCapability?.block !== undefined) await this.bindDevice(volumeId, targetPath);
        else {
          const source = stagingTargetPath === "" ? await this.content(volumeId) : stagingTargetPath;
          if (this.options.mounts !== false) await mkdir(targetPath, { recursive: true });
          await this.bind(source, targetPath, request.readonly);
        }
        return {};
      }),
      nodeUnpublishVolume: this.handle(
        "NodeUnpublishVolume",
        async (request: { volumeId: string; targetPath: string }) => {
          await this.unmount(request.targetPath);
          await rmdir(request.targetPath).catch(() => rm(request.targetPath, { force: true }));
          return {};
        },
      ),
      nodeGetVolumeStats: this.handle("NodeGetVolumeStats", async (request: NodeGetVolumeStatsRequest) => {
        const fs = await statfs(request.volumePath, { bigint: true });
        const total = fs.blocks * fs.bsize;
        const available = fs.bavail * fs.bsize;
        return {
          usage: [
            { unit: VolumeUsage_Unit.BYTES, total, available, used: total - fs.bfree * fs.bsize },
            { unit: VolumeUsage_Unit.INODES, total: fs.files, available: fs.ffree, used: fs.files - fs.ffree },
          ],
          volumeCondition: this.condition,
        };
      }),
      nodeExpandVolume: this.handle("NodeExpandVolume", (request: NodeExpandVolumeRequest) =>
        Promise.resolve({ capacityBytes: request.capacityRange?.requiredBytes ?? 0n }),
      ),
    };
  }

  private async content(volumeId: string): Promise<string> {
    const directory = `${this.options.home}/volumes/${volumeId}`;
    await mkdir(directory, { recursive: true });
    return directory;
  }

  private async bind(source: string, target: string, readOnly = false): Promise<void> {
    if (this.options.mounts === false || mountsBelow(target).includes(target)) return;
    await mount({ source, target, flags: ["bind"] });
    if (readOnly) await mount({ source, target, flags: ["bind", "remount", "readOnly"] });
  }

  private async attachLoop(volumeId: string): Promise<string> {
    const known = this.loops.get(volumeId);
    if (known !== undefined) return known;
    const image = `${this.options.home}/volumes/${volumeId}.img`;
    await (await open(image, "a")).close();
    if ((await stat(image)).size === 0) await truncate(image, 8 * 1024 * 1024);
    const { stdout } = await run("losetup", ["--find", "--show", image]);
    this.loops.set(volumeId, stdout.trim());
    return stdout.trim();
  }

  private async bindDevice(volumeId: string, target: string): Promise<void> {
    const device = await this.attachLoop(volumeId);
    await (await open(target, "a")).close();
    if (!mountsBelow(target).includes(target)) await mount({ source: device, target, flags: ["bind"] });
  }

  private async unmount(target: string): Promise<void> {
    if (mountsBelow(target).includes(target)) await run("umount", [target]);
  }
}
