// A CSI driver of the simulated machine: it registers by a socket in plugins_registry, stages volumes and publishes
// them with mounts. It does what it is asked, however wrong that is, and tells of it.
// Invariant: a call takes effect at one moment; a fault may fail it before or after that.

import { NodeService, NodeServiceCapability_RPC_Type } from "../../../src/shared/kubernetes/plugins/gen/csi.v1.js";
import { RegistrationService } from "../../../src/shared/kubernetes/plugins/gen/pluginregistration.v1.js";
import { Inode } from "../disk/inode.js";
import { disk } from "../disk/machine-disk.js";
import type { GrpcServer } from "../modules/grpc-client.js";
import { NODE_NAME, type SimulatedApi } from "./api.js";
import { ROOT } from "./machine-files.js";
import { PluginProcess, RefusedError, type ProcessFault } from "./plugin-process.js";
import { plugins } from "./plugin-sockets.js";

export const CSI_DRIVER = "csi.example.com";
/** Names of the claims in the namespace default. */
export const CLAIMS = ["claim-0", "claim-1", "claim-2"];
/** The claim whose volume is for one pod at a time, on nodes that have such a one. */
export const LONE_CLAIM = "claim-2";

/** The volume of a claim: its name and its handle. */
export function volumeOf(claim: string): string {
  return `volume-of-${claim}`;
}

export type CsiFault = ProcessFault<"csi">;

const REGISTRY = `${ROOT}/plugins_registry`;
const REGISTRATION = `${REGISTRY}/${CSI_DRIVER}-reg.sock`;
const ENDPOINT = `${ROOT}/plugins/${CSI_DRIVER}/csi.sock`;

const { tree } = disk;

interface Expansion {
  volume: string;
  bytes: bigint;
  /** Where a pod has it. */
  path: string;
}

export class CsiPlugin {
  /** Staging path by volume. */
  readonly staged = new Map<string, string>();
  /** Volume by target path. */
  readonly published = new Map<string, string>();
  /** Hears of a request that the driver should not have got. */
  readonly onWrong = new Set<(what: string) => void>();
  /** Bytes of each volume. */
  readonly sizes = new Map<string, bigint>(CLAIMS.map((claim) => [volumeOf(claim), 1024n ** 3n]));
  /** Hears of each expansion before it takes effect. */
  readonly onExpand = new Set<(expansion: Expansion) => void>();
  /** The size that a volume cannot have on this node, and the code of the answer. */
  readonly refused = new Map<string, { bytes: bigint; code: number }>();
  /** Hears of each expansion that is refused. */
  readonly onRefuse = new Set<(expansion: Expansion) => void>();
  /** Hears of each volume before it is staged. */
  readonly onStage = new Set<(volume: string) => void>();
  /** Hears of each target before a volume is published there. */
  readonly onPublish = new Set<(volume: string, target: string) => void>();
  /** Hears of each target before it is unpublished. */
  readonly onUnpublish = new Set<(target: string) => void>();
  // A call that is given up was not begun, as with a driver that asks for the deadline first.
  private readonly process = new PluginProcess({ perform: (...call) => this.performed(...call), goesOn: false });

  constructor(
    api: SimulatedApi,
    private readonly options: { attachRequired: boolean; expands: boolean; hasLoneVolume: boolean },
  ) {
    const server: GrpcServer = { call: (...call) => this.process.call(...call) };
    for (const path of [REGISTRATION, ENDPOINT]) {
      const folder = disk.directory(path.slice(0, path.lastIndexOf("/")));
      folder.setEntry(path.slice(path.lastIndexOf("/") + 1), new Inode("socket", 0o755, "disk"));
      plugins.serve(path, server);
    }
    disk.syncAll();
    makeObjects(api, options);
  }

  perform(fault: CsiFault): void {
    switch (fault.do) {
      case "csi-away":
        this.process.away(fault.ms);
        return;
      case "csi-slow":
        this.process.slow(fault.lateMs, fault.ms);
        return;
      case "csi-fails":
        this.process.fails(fault, fault.ms);
    }
  }

  /** The machine has lost its power, and with it all mounts. */
  reboot(): void {
    this.staged.clear();
    this.published.clear();
  }

  private performed(path: string, bytes: Buffer): Buffer {
    const { getInfo, notifyRegistrationStatus } = RegistrationService;
    switch (path) {
      case getInfo.path:
        return getInfo.responseSerialize({
          type: "CSIPlugin",
          name: CSI_DRIVER,
          endpoint: ENDPOINT,
          supportedVersions: ["1.0.0"],
        });
      case notifyRegistrationStatus.path:
        return notifyRegistrationStatus.responseSerialize({});
      case NodeService.nodeGetInfo.path: {
        const info = { nodeId: NODE_NAME, maxVolumesPerNode: 0n, accessibleTopology: undefined };
        return NodeService.nodeGetInfo.responseSerialize(info);
      }
      case NodeService.nodeGetCapabilities.path: {
        const { STAGE_UNSTAGE_VOLUME, EXPAND_VOLUME } = NodeServiceCapability_RPC_Type;
        const types = this.options.expands ? [STAGE_UNSTAGE_VOLUME, EXPAND_VOLUME] : [STAGE_UNSTAGE_VOLUME];
        return NodeService.nodeGetCapabilities.responseSerialize({
          capabilities: types.map((type) => ({ rpc: { type } })),
        });
      }
      default:
        return this.volumeCall(path, bytes);
    }
  }

  private volumeCall(path: string, bytes: Buffer): Buffer {
    const { nodeStageVolume, nodeUnstageVolume, nodePublishVolume, nodeUnpublishVolume } = NodeService;
    switch (path) {
      case nodeStageVolume.path: {
        const { volumeId, stagingTargetPath } = nodeStageVolume.requestDeserialize(bytes);
        this.stage(volumeId, stagingTargetPath);
        return nodeStageVolume.responseSerialize({});
      }
      case nodeUnstageVolume.path: {
        this.unstage(nodeUnstageVolume.requestDeserialize(bytes).volumeId);
        return nodeUnstageVolume.responseSerialize({});
      }
      case nodePublishVolume.path: {
        const { volumeId, targetPath } = nodePublishVolume.requestDeserialize(bytes);
        this.publish(volumeId, targetPath);
        return nodePublishVolume.responseSerialize({});
      }
      case nodeUnpublishVolume.path: {
        this.unpublish(nodeUnpublishVolume.requestDeserialize(bytes).targetPath);
        return nodeUnpublishVolume.responseSerialize({});
      }
      case NodeService.nodeExpandVolume.path: {
        const { volumeId, volumePath, capacityRange } = NodeService.nodeExpandVolume.requestDeserialize(bytes);
        const capacityBytes = capacityRange?.requiredBytes ?? 0n;
        this.expand({ volume: volumeId, bytes: capacityBytes, path: volumePath });
        return NodeService.nodeExpandVolume.responseSerialize({ capacityBytes });
      }
      default:
        throw new Error(`the driver of the simulation has no ${path}`);
    }
  }

  private stage(volume: string, path: string): void {
    const before = this.staged.get(volume);
    if (before === path) return;
    for (const listener of this.onStage) listener(volume);
    if (before !== undefined) this.wrong(`${volume} is staged at ${before} and at ${path}`);
    tree.mount("", path, "ext4");
    this.staged.set(volume, path);
  }

  private unstage(volume: string): void {
    const target = [...this.published].find(([, one]) => one === volume)?.[0];
    if (target !== undefined) this.wrong(`${volume} is unstaged while it is published at ${target}`);
    const path = this.staged.get(volume);
    if (path === undefined) return;
    this.staged.delete(volume);
    tree.unmount(path);
  }

  private publish(volume: string, target: string): void {
    const path = this.staged.get(volume);
    if (path === undefined) {
      this.wrong(`${volume} is published at ${target} before it is staged`);
      throw new Error(`${volume} is not staged`);
    }
    const before = this.published.get(target);
    if (before === volume) return;
    for (const listener of this.onPublish) listener(volume, target);
    if (before !== undefined) this.wrong(`${volume} is published at ${target}, where ${before} is`);
    if (!tree.exists(target)) tree.makeDirectory(target, 0o755);
    tree.mount(path, target, "");
    this.published.set(target, volume);
  }

  private unpublish(target: string): void {
    for (const listener of this.onUnpublish) listener(target);
    if (!this.published.delete(target)) return;
    tree.unmount(target);
    tree.removeDirectory(target);
  }

  private expand(expansion: Expansion): void {
    const refusal = this.refused.get(expansion.volume);
    if (refusal?.bytes === expansion.bytes) {
      for (const listener of this.onRefuse) listener(expansion);
      throw new RefusedError(refusal.code);
    }
    for (const listener of this.onExpand) listener(expansion);
    this.sizes.set(expansion.volume, expansion.bytes);
  }

  private wrong(what: string): void {
    for (const listener of this.onWrong) listener(what);
  }
}

/** The driver, and a bound claim for each volume. */
function makeObjects(
  { store }: SimulatedApi,
  { attachRequired, hasLoneVolume }: { attachRequired: boolean; hasLoneVolume: boolean },
): void {
  store.put("csidrivers", { metadata: { name: CSI_DRIVER }, spec: { attachRequired, podInfoOnMount: false } });
  const modeOf = (claim: string) => (hasLoneVolume && claim === LONE_CLAIM ? "ReadWriteOncePod" : "ReadWriteMany");
  const size = { storage: "1Gi" };
  for (const name of CLAIMS) {
    const volume = volumeOf(name);
    const common = { accessModes: [modeOf(name)], volumeMode: "Filesystem", storageClassName: "" };
    const { metadata: claim } = store.put("persistentvolumeclaims", {
      metadata: { name, namespace: "default" },
      spec: { ...common, volumeName: volume, resources: { requests: size } },
      status: { phase: "Bound", accessModes: common.accessModes, capacity: size },
    });
    store.put("persistentvolumes", {
      metadata: { name: volume },
      spec: {
        ...common,
        capacity: size,
        csi: { driver: CSI_DRIVER, volumeHandle: volume },
        claimRef: { kind: "PersistentVolumeClaim", namespace: "default", name, uid: claim.uid },
      },
      status: { phase: "Bound" },
    });
  }
}
