// A DRA driver of the simulated machine: it registers by a socket in plugins_registry, prepares ResourceClaims and
// publishes a ResourceSlice. It notifies the promises of each call.
// Invariant: what is prepared survives the driver's process and the kubelet's, and ends with the machine.

import { DRAPluginService as V1 } from "../../../src/shared/kubernetes/plugins/gen/dra.v1.js";
import { DRAPluginService as V1Beta1 } from "../../../src/shared/kubernetes/plugins/gen/dra.v1beta1.js";
import { RegistrationService } from "../../../src/shared/kubernetes/plugins/gen/pluginregistration.v1.js";
import { Inode } from "../disk/inode.js";
import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import type { GrpcServer } from "../modules/grpc-client.js";
import { NODE_NAME, type SimulatedApi } from "./api.js";
import { DeviceHealths } from "./device-health.js";
import { ROOT } from "./machine-files.js";
import { PluginProcess, type ProcessFault } from "./plugin-process.js";
import { plugins } from "./plugin-sockets.js";

export const DRIVER = "dra.example.com";
const SLICE = `${NODE_NAME}-${DRIVER}`;

export type DraFault =
  | ProcessFault<"dra">
  /** The driver is away, and its sockets with it: it registers again. */
  | { do: "dra-leaves"; ms: number };

const REGISTRATION = `${ROOT}/plugins_registry/${DRIVER}-reg.sock`;
const ENDPOINT = `${ROOT}/plugins/${DRIVER}/dra.sock`;
/** To the next look at the ResourceSlice, as that of upstream's helper for drivers. */
const SLICE_MS = 5000;

const SERVICES = ["v1.DRAPlugin", "v1beta1.DRAPlugin"];

interface PreparedDevice {
  request: string;
  pool: string;
  device: string;
  cdi: string;
}

interface PreparedClaim {
  /** The name of the ResourceClaim. */
  name: string;
  devices: readonly PreparedDevice[];
}

interface ClaimRef {
  namespace: string;
  name: string;
  uid: string;
}

interface Allocation {
  devices: { results: { request: string; pool: string; device: string }[] };
}

interface Answer {
  error: string;
  devices: ReturnType<typeof answerOf>[];
}

export class DraPlugin {
  /** By UID of the claim. */
  readonly prepared = new Map<string, PreparedClaim>();
  /** Hears of each claim, by UID, before it is unprepared. */
  readonly onUnprepare = new Set<(uid: string) => void>();
  /** Hears of each call as it takes effect, with the names of its claims. */
  readonly onEffect = new Set<(verb: string, claims: readonly string[]) => void>();
  /** Undefined: it does not report the health of its devices. */
  readonly healths: DeviceHealths | undefined;
  private readonly process = new PluginProcess({ perform: (...call) => this.performed(...call), goesOn: true });
  private readonly server: GrpcServer = {
    call: (path, bytes, reply) => {
      if (!path.endsWith("/NodeWatchResources")) return this.process.call(path, bytes, reply);
      if (this.healths !== undefined && this.process.isUp) return this.healths.watch(reply);
      // Without the service it does not report the health of its devices.
      reply.failed(this.healths === undefined ? { code: 12, details: "unknown service" } : { code: 14, details: "" });
      return { cancel: () => undefined };
    },
  };
  private isRegistered = false;
  /** Names of CDI devices are used once, so that old ones differ from new ones. */
  private names = 0;

  constructor(
    private readonly api: SimulatedApi,
    reportsHealth: boolean,
  ) {
    if (reportsHealth) this.healths = new DeviceHealths();
    for (const path of [REGISTRATION, ENDPOINT]) disk.directory(path.slice(0, path.lastIndexOf("/")));
    this.makeSockets();
    disk.syncAll();
    api.onChange("resourceslices", ({ type }) => {
      if (type === "DELETED") kernel.after(kernel.world, SLICE_MS, () => this.publish());
    });
  }

  perform(fault: DraFault): void {
    const { process } = this;
    switch (fault.do) {
      case "dra-away":
      case "dra-leaves":
        this.leave(fault.ms, fault.do === "dra-leaves");
        return;
      case "dra-slow":
        process.slow(fault.lateMs, fault.ms);
        return;
      case "dra-fails":
        process.fails(fault, fault.ms);
    }
  }

  /** The machine has lost its power: CDI files are in /run, and the sockets are made anew. */
  reboot(): void {
    this.prepared.clear();
    this.process.reboot();
    this.isRegistered = false;
    if (this.process.isUp) this.makeSockets();
  }

  private leave(ms: number, takesSockets: boolean): void {
    if (!this.process.isUp) return;
    this.isRegistered &&= !takesSockets;
    if (takesSockets) this.removeSockets();
    plugins.setConnected(ENDPOINT, false);
    this.healths?.close();
    this.process.away(ms, () => {
      if (![REGISTRATION, ENDPOINT].every((path) => disk.tree.exists(path))) this.makeSockets();
      plugins.setConnected(ENDPOINT, true);
      kernel.after(kernel.world, SLICE_MS, () => this.publish());
    });
  }

  private makeSockets(): void {
    this.removeSockets();
    for (const path of [ENDPOINT, REGISTRATION]) {
      disk.tree.make(path, new Inode("socket", 0o755, "disk"), "bind");
      plugins.serve(path, this.server);
    }
  }

  private removeSockets(): void {
    for (const path of [REGISTRATION, ENDPOINT]) {
      plugins.serve(path, undefined);
      if (disk.tree.exists(path)) disk.tree.unlink(path);
    }
  }

  private publish(): void {
    const { api, process } = this;
    if (!this.isRegistered || !process.isUp || api.store.get("resourceslices", "", SLICE) !== undefined) return;
    const pool = { name: "pool", generation: 1, resourceSliceCount: 1 };
    const devices = [{ name: "device" }];
    api.store.put("resourceslices", {
      metadata: { name: SLICE },
      spec: { driver: DRIVER, nodeName: NODE_NAME, pool, devices },
    });
  }

  private performed(path: string, bytes: Buffer): Buffer {
    const { getInfo, notifyRegistrationStatus } = RegistrationService;
    switch (path) {
      case getInfo.path:
        return getInfo.responseSerialize({
          type: "DRAPlugin",
          name: DRIVER,
          endpoint: ENDPOINT,
          supportedVersions: this.healths === undefined ? SERVICES : [...SERVICES, "v1alpha1.DRAResourceHealth"],
        });
      case notifyRegistrationStatus.path:
        this.isRegistered = notifyRegistrationStatus.requestDeserialize(bytes).pluginRegistered;
        this.publish();
        return notifyRegistrationStatus.responseSerialize({});
      default:
        return this.claimCall(path, bytes);
    }
  }

  private claimCall(path: string, bytes: Buffer): Buffer {
    const service = path.includes(".v1beta1.") ? V1Beta1 : V1;
    const { nodePrepareResources, nodeUnprepareResources } = service;
    const verb = path.slice(path.lastIndexOf("/") + 1);
    switch (path) {
      case nodePrepareResources.path: {
        const { claims } = nodePrepareResources.requestDeserialize(bytes);
        const replies = claims.map((claim) => [claim.uid, this.prepare(claim)] as const);
        this.tell(verb, claims);
        return nodePrepareResources.responseSerialize({ claims: Object.fromEntries(replies) });
      }
      case nodeUnprepareResources.path: {
        const { claims } = nodeUnprepareResources.requestDeserialize(bytes);
        for (const { uid } of claims) this.unprepare(uid);
        this.tell(verb, claims);
        const replies = claims.map(({ uid }) => [uid, { error: "" }] as const);
        return nodeUnprepareResources.responseSerialize({ claims: Object.fromEntries(replies) });
      }
      default:
        throw new Error(`${path} is not implemented`);
    }
  }

  private tell(verb: string, claims: readonly ClaimRef[]): void {
    const names = claims.map(({ name }) => name);
    for (const listener of this.onEffect) listener(verb, names);
  }

  /** As upstream's helper for drivers: it reads the claim from the API server. What is prepared stays as it is. */
  private prepare({ namespace, name, uid }: ClaimRef): Answer {
    if (!this.api.isUp) return { error: "the API server is away", devices: [] };
    const claim = this.api.store.get("resourceclaims", namespace, name);
    if (claim?.metadata.uid !== uid) return { error: `ResourceClaim ${name} is not there`, devices: [] };
    const { allocation } = (claim.status ?? {}) as { allocation?: Allocation };
    const made = (allocation?.devices.results ?? []).map(({ request, pool, device }) => {
      return { request, pool, device, cdi: `example.com/device=${device}-${++this.names}` };
    });
    const { devices } = this.prepared.get(uid) ?? { devices: made };
    this.prepared.set(uid, { name, devices });
    for (const { device } of devices) this.healths?.add(device);
    return { error: "", devices: devices.map(answerOf) };
  }

  private unprepare(uid: string): void {
    for (const listener of this.onUnprepare) listener(uid);
    for (const { device } of this.prepared.get(uid)?.devices ?? []) this.healths?.remove(device);
    this.prepared.delete(uid);
  }
}

function answerOf({ request, pool, device, cdi }: PreparedDevice) {
  return { requestNames: [request], poolName: pool, deviceName: device, cdiDeviceIds: [cdi] };
}
