// Node plugins that hang, flood, answer with megabytes, or register under names without end: real gRPC servers and
// clients, by the plugins' own protocols.

import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type sendUnaryData,
  type ServerWritableStream,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { NodeService } from "../../src/shared/kubernetes/plugins/gen/csi.v1.js";
import {
  DevicePluginService,
  RegistrationService,
  type AllocateRequest,
  type Empty,
  type ListAndWatchResponse,
} from "../../src/shared/kubernetes/plugins/gen/deviceplugin.v1beta1.js";
import { DRAPluginService } from "../../src/shared/kubernetes/plugins/gen/dra.v1.js";
import {
  DRAResourceHealthService,
  HealthStatus,
  type NodeWatchResourcesResponse,
} from "../../src/shared/kubernetes/plugins/gen/drahealth.v1alpha1.js";
import {
  RegistrationService as SocketRegistration,
  type PluginInfo,
} from "../../src/shared/kubernetes/plugins/gen/pluginregistration.v1.js";

const MIB = 1024 * 1024;

type Service = Parameters<Server["addService"]>[0];

/** Servers of one attack; `requests` counts what reached them. */
export class HostilePlugins {
  requests = 0;
  readonly #servers = new Map<string, Server>();
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver;
  }

  async serve(path: string, ...services: readonly (readonly [Service, Record<string, unknown>])[]): Promise<void> {
    await mkdir(dirname(path), { recursive: true });
    await this.close(path);
    const server = new Server();
    for (const [service, handlers] of services) server.addService(service, handlers as UntypedServiceImplementation);
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix://${path}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      );
    });
    this.#servers.set(path, server);
  }

  /** Removes the socket first, as a plugin that ends. */
  async close(path: string): Promise<void> {
    await rm(path, { force: true });
    this.#servers.get(path)?.forceShutdown();
    this.#servers.delete(path);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    for (const path of [...this.#servers.keys()]) await this.close(path);
  }

  /** A handler that never answers. */
  readonly hang = (): void => {
    this.requests++;
  };

  /** A handler with one answer. */
  answer<Response>(response: Response) {
    return (_call: unknown, answer: sendUnaryData<Response>): void => {
      this.requests++;
      answer(null, response);
    };
  }

  registration(info: Partial<PluginInfo>): readonly [Service, Record<string, unknown>] {
    const whole = { type: "CSIPlugin", name: "evil.example.com", endpoint: "", supportedVersions: ["1.0.0"], ...info };
    return [SocketRegistration, { getInfo: this.answer(whole), notifyRegistrationStatus: this.answer({}) }];
  }

  /** One that hangs in both calls. */
  silentRegistration(): readonly [Service, Record<string, unknown>] {
    return [SocketRegistration, { getInfo: this.hang, notifyRegistrationStatus: this.hang }];
  }

  /** Lists of `devices` devices, as fast as they are taken. */
  floodingDevices(devices: number): readonly [Service, Record<string, unknown>] {
    const { getDevicePluginOptions, listAndWatch, allocate } = DevicePluginService;
    const list = (round: number): ListAndWatchResponse => ({
      devices: Array.from({ length: devices }, (_, at) => ({
        ID: `device-${at}-with-a-name-of-some-length`,
        health: (at + round) % 2 === 0 ? "Healthy" : "Unhealthy",
        topology: undefined,
      })),
    });
    const [even, odd] = [list(0), list(1)];
    const flood = (stream: ServerWritableStream<Empty, ListAndWatchResponse>, round: number): void => {
      if (this.#isOver || stream.cancelled) return;
      this.requests++;
      const isTaken = stream.write(round % 2 === 0 ? even : odd);
      if (isTaken) setImmediate(() => flood(stream, round + 1));
      else stream.once("drain", () => flood(stream, round + 1));
    };
    return [
      { getDevicePluginOptions, listAndWatch, allocate },
      {
        getDevicePluginOptions: this.answer({ preStartRequired: false, getPreferredAllocationAvailable: false }),
        listAndWatch: (stream: ServerWritableStream<Empty, ListAndWatchResponse>) => flood(stream, 0),
        allocate: this.hang,
      },
    ];
  }

  /** A plugin of `devices` devices that hangs in one of its calls until `answer` is called. */
  hangingDevices(
    devices: number,
    method: "getPreferredAllocation" | "allocate" | "preStartContainer",
  ): { service: readonly [Service, Record<string, unknown>]; answer(): void } {
    const waiting: (() => void)[] = [];
    let isHanging = true;
    const handler =
      <Request, Response>(name: string, work: (request: Request) => Response) =>
      ({ request }: { request: Request }, answer: sendUnaryData<Response>): void => {
        this.requests++;
        const respond = (): void => answer(null, work(request));
        if (name === method && isHanging) waiting.push(respond);
        else respond();
      };
    const list = Array.from({ length: devices }, (_, at) => ({
      ...{ ID: `hang-${at}`, health: "Healthy", topology: undefined },
    }));
    const service: readonly [Service, Record<string, unknown>] = [
      DevicePluginService,
      {
        getDevicePluginOptions: this.answer({
          preStartRequired: method === "preStartContainer",
          getPreferredAllocationAvailable: method === "getPreferredAllocation",
        }),
        listAndWatch: (stream: ServerWritableStream<Empty, ListAndWatchResponse>) => stream.write({ devices: list }),
        getPreferredAllocation: handler("getPreferredAllocation", () => ({ containerResponses: [] })),
        allocate: handler("allocate", ({ containerRequests }: AllocateRequest) => ({
          containerResponses: containerRequests.map(({ devicesIds }) => ({
            ...{ envs: { HANG: devicesIds.join() }, mounts: [], devices: [], annotations: {}, cdiDevices: [] },
          })),
        })),
        preStartContainer: handler("preStartContainer", () => ({})),
      },
    ];
    const answer = (): void => {
      isHanging = false;
      for (const respond of waiting.splice(0)) respond();
    };
    return { service, answer };
  }

  /** A CSI node service: `handlers` replace answers that are right. */
  csi(handlers: Record<string, unknown> = {}): readonly [Service, Record<string, unknown>] {
    return [
      NodeService,
      {
        nodeGetInfo: this.answer({ nodeId: "evil", maxVolumesPerNode: 0n, accessibleTopology: undefined }),
        nodeGetCapabilities: this.answer({ capabilities: [1, 2].map((type) => ({ rpc: { type } })) }),
        nodeStageVolume: this.answer({}),
        nodeUnstageVolume: this.answer({}),
        nodePublishVolume: this.answer({}),
        nodeUnpublishVolume: this.answer({}),
        nodeGetVolumeStats: this.hang,
        nodeExpandVolume: this.hang,
        ...handlers,
      },
    ];
  }

  /** A DRA driver that never prepares a claim and reports the health of thousands of devices without pause. */
  dra(prepare: unknown = this.hang): readonly (readonly [Service, Record<string, unknown>])[] {
    const devices = Array.from({ length: 5000 }, (_, at) => ({
      device: { poolName: "pool", deviceName: `device-${at}` },
      health: HealthStatus.UNHEALTHY,
      lastUpdatedTime: 0n,
      healthCheckTimeoutSeconds: 600n,
      message: "x".repeat(200),
    }));
    const flood = (stream: ServerWritableStream<object, NodeWatchResourcesResponse>): void => {
      if (this.#isOver || stream.cancelled) return;
      this.requests++;
      if (stream.write({ devices })) setImmediate(() => flood(stream));
      else stream.once("drain", () => flood(stream));
    };
    return [
      [DRAPluginService, { nodePrepareResources: prepare, nodeUnprepareResources: this.hang }],
      [DRAResourceHealthService, { nodeWatchResources: flood }],
    ];
  }

  /** Registers at kubelet.sock; resolves with the kubelet's refusal, or "". */
  register(rootDir: string, resourceName: string, endpoint: string): Promise<string> {
    const client = new Client(`unix://${rootDir}/device-plugins/kubelet.sock`, credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
    });
    const { register } = RegistrationService;
    return new Promise<string>((resolve) => {
      client.makeUnaryRequest(
        register.path,
        register.requestSerialize,
        register.responseDeserialize,
        { version: "v1beta1", endpoint, resourceName, options: undefined },
        new Metadata(),
        { deadline: Date.now() + 20_000 },
        (error) => resolve(error === null ? "" : error.details),
      );
    }).finally(() => {
      this.requests++;
      client.close();
    });
  }
}

/** A text with which a response is too large for what it says. */
export const MEGABYTE = "x".repeat(MIB);
