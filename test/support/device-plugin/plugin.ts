// A device plugin of our own. It allocates made-up devices as a variable, a file and a device node. It can fall silent,
// come back, and have devices that are unhealthy; it registers by either way.

import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
} from "@grpc/grpc-js";
import {
  DevicePluginService,
  RegistrationService,
  type AllocateRequest,
  type AllocateResponse,
  type DevicePluginOptions,
  type Empty,
  type ListAndWatchResponse,
  type PreferredAllocationRequest,
  type PreferredAllocationResponse,
  type PreStartContainerRequest,
} from "../../../src/shared/kubernetes/plugins/gen/deviceplugin.v1beta1.js";
import {
  RegistrationService as PluginRegistrationService,
  type PluginInfo,
  type RegistrationStatus,
} from "../../../src/shared/kubernetes/plugins/gen/pluginregistration.v1.js";

export interface TestDevice {
  healthy?: boolean;
  nodes?: readonly number[];
}

export interface TestPluginOptions {
  resource: string;
  /** Root directory of the kubelet. */
  rootDir: string;
  /** By ID. */
  devices: Readonly<Record<string, TestDevice>>;
  preStartRequired?: boolean;
  /** Picks of the available devices; absent: no preference is offered. */
  prefer?: (available: readonly string[], size: number) => string[];
  version?: string;
}

export class TestDevicePlugin implements AsyncDisposable {
  readonly devices: Map<string, TestDevice>;
  /** Device IDs of each Allocate, and of each PreStartContainer. */
  readonly allocated: string[][] = [];
  readonly preStarted: string[][] = [];
  /** Messages that the plugin got through plugins_registry. */
  readonly statuses: RegistrationStatus[] = [];
  /** Text that calls are refused with, by method name. */
  readonly faults = new Map<string, string>();
  private server: Server | undefined;
  private registry: Server | undefined;
  private readonly streams = new Set<ServerWritableStream<Empty, ListAndWatchResponse>>();

  private constructor(private readonly options: TestPluginOptions) {
    this.devices = new Map(Object.entries(options.devices));
  }

  /** Serves; it does not register by itself. */
  static async start(options: TestPluginOptions): Promise<TestDevicePlugin> {
    const plugin = new TestDevicePlugin(options);
    await plugin.serve();
    return plugin;
  }

  private get name(): string {
    return this.options.resource.replaceAll("/", "-");
  }
  get socket(): string {
    return `${this.options.rootDir}/device-plugins/${this.name}.sock`;
  }
  get registrySocket(): string {
    return `${this.options.rootDir}/plugins_registry/${this.name}-reg.sock`;
  }
  /** Holds the name of the device; mounted into containers. */
  private get home(): string {
    return `${this.options.rootDir}/made-up-devices/${this.name}`;
  }

  async serve(): Promise<void> {
    await mkdir(this.home, { recursive: true });
    for (const id of this.devices.keys()) await writeFile(`${this.home}/${id}`, `device ${id}\n`);
    this.server = await listen(this.socket, (server) => {
      server.addService(DevicePluginService, this.service());
    });
  }

  /** Registers at kubelet.sock; rejects with the kubelet's error. */
  async register(): Promise<void> {
    const { resource, version = "v1beta1", rootDir } = this.options;
    const client = new Client(`unix://${rootDir}/device-plugins/kubelet.sock`, credentials.createInsecure());
    const { register } = RegistrationService;
    try {
      await new Promise<void>((resolve, reject) => {
        client.makeUnaryRequest(
          register.path,
          register.requestSerialize,
          register.responseDeserialize,
          { version, endpoint: `${this.name}.sock`, resourceName: resource, options: this.pluginOptions() },
          new Metadata(),
          { deadline: 15_000 + Date.now() },
          (error) => (error === null ? resolve() : reject(error)),
        );
      });
    } finally {
      client.close();
    }
  }

  /** By a socket below plugins_registry, which is the plugin's own as well. */
  async registerBySocket(): Promise<void> {
    const { resource, version = "v1beta1" } = this.options;
    const info: PluginInfo = {
      type: "DevicePlugin",
      name: resource,
      endpoint: "",
      supportedVersions: [version],
    };
    this.registry = await listen(this.registrySocket, (server) => {
      server.addService(DevicePluginService, this.service());
      server.addService(PluginRegistrationService, {
        getInfo: (_call: unknown, answer: sendUnaryData<PluginInfo>) => answer(null, info),
        notifyRegistrationStatus: (
          call: ServerUnaryCall<RegistrationStatus, object>,
          answer: sendUnaryData<object>,
        ) => {
          this.statuses.push(call.request);
          answer(null, {});
        },
      });
    });
  }

  set(id: string, device: TestDevice): void {
    this.devices.set(id, device);
    for (const stream of this.streams) stream.write(this.list());
  }

  /** As a plugin that is killed. */
  async stop(): Promise<void> {
    this.server?.forceShutdown();
    this.registry?.forceShutdown();
    this.server = undefined;
    this.registry = undefined;
    this.streams.clear();
    await rm(this.socket, { force: true });
    await rm(this.registrySocket, { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  private list(): ListAndWatchResponse {
    return {
      devices: [...this.devices].map(([ID, { healthy = true, nodes = [] }]) => ({
        ID,
        health: healthy ? "Healthy" : "Unhealthy",
        topology: nodes.length === 0 ? undefined : { nodes: nodes.map((node) => ({ ID: BigInt(node) })) },
      })),
    };
  }

  private pluginOptions(): DevicePluginOptions {
    const { preStartRequired = false, prefer } = this.options;
    return { preStartRequired, getPreferredAllocationAvailable: prefer !== undefined };
  }

  private service() {
    const handle =
      <Request, Response>(method: string, work: (request: Request) => Response) =>
      ({ request }: ServerUnaryCall<Request, Response>, answer: sendUnaryData<Response>): void => {
        const fault = this.faults.get(method);
        if (fault === undefined) answer(null, work(request));
        else answer({ code: status.UNKNOWN, details: fault });
      };
    return {
      getDevicePluginOptions: handle("GetDevicePluginOptions", () => this.pluginOptions()),
      listAndWatch: (stream: ServerWritableStream<Empty, ListAndWatchResponse>): void => {
        this.streams.add(stream);
        stream.on("cancelled", () => this.streams.delete(stream));
        stream.write(this.list());
      },
      getPreferredAllocation: handle(
        "GetPreferredAllocation",
        ({ containerRequests }: PreferredAllocationRequest): PreferredAllocationResponse => ({
          containerResponses: containerRequests.map(({ availableDeviceIDs, allocationSize }) => ({
            deviceIDs: this.options.prefer?.(availableDeviceIDs, allocationSize) ?? [],
          })),
        }),
      ),
      allocate: handle("Allocate", ({ containerRequests }: AllocateRequest): AllocateResponse => {
        for (const { devicesIds } of containerRequests) this.allocated.push(devicesIds);
        return { containerResponses: containerRequests.map(({ devicesIds }) => this.response(devicesIds)) };
      }),
      preStartContainer: handle("PreStartContainer", ({ devicesIds }: PreStartContainerRequest) => {
        this.preStarted.push(devicesIds);
        return {};
      }),
    };
  }

  private response(ids: readonly string[]): AllocateResponse["containerResponses"][number] {
    return {
      envs: { MADE_UP_DEVICES: ids.join(",") },
      mounts: ids.map((id) => ({ containerPath: `/made-up/${id}`, hostPath: `${this.home}/${id}`, readOnly: true })),
      // Any device of the machine does.
      devices: ids.map((id) => ({ containerPath: `/dev/made-up-${id}`, hostPath: "/dev/zero", permissions: "r" })),
      annotations: { "example.com/devices": ids.join(",") },
      cdiDevices: [],
    };
  }
}

async function listen(socket: string, add: (server: Server) => void): Promise<Server> {
  await mkdir(dirname(socket), { recursive: true });
  await rm(socket, { force: true });
  const server = new Server();
  add(server);
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  return server;
}
