// What the machine's disks are used for, on a node that runs short of them: images, writable layers and volumes of
// containers, and programs beside the pods, which take most of the rest at times.

import { ContainerEventType, ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { makeImage } from "../../fake-cri/images.js";
import type { FakeContainer } from "../../fake-cri/state.js";
import { Inode } from "../disk/inode.js";
import { disk } from "../disk/machine-disk.js";
import { BLOCK, type Room } from "../disk/room.js";
import { kernel } from "../kernel/kernel.js";
import type { Growth } from "../plan/pod-shapes.js";
import { ContainerRuns, type Run } from "./container-runs.js";
import { ROOT } from "./machine-files.js";
import type { NodeShape } from "./node-shape.js";
import { podNameOf, type AllFacts } from "./pod-facts.js";
import { IMAGES, type SimulatedRuntime } from "./runtime.js";
import type { Signal, Signals } from "./signals.js";

/** MiB of logs and other small files of a pod, and their number. */
export const SMALL_MIB = 1;
export const SMALL_FILES = 100;
const MIB = 1024 * 1024;
/** File systems: that of the kubelet, and that of the images where they have one. */
const NODE = "disk";
const OWN = "images";
const SIZE_MIB: Readonly<Record<string, number>> = { [NODE]: 100 * 1024, [OWN]: 60 * 1024 };
const INODES = 1_000_000;
/** Where containers write more and more. */
const SMALL_SIZE_MIB: typeof SIZE_MIB = { [NODE]: 24 * 1024, [OWN]: 18 * 1024 };
const TMPFS_MIB = 8 * 1024;
/** Programs beside the pods, and their files. */
const USUAL_MIB = 4096;
const USUAL_INODES = 100_000;
/** Programs beside the pods leave so much, but for those that fill a disk: inodes are counted in thousands. */
const LEFT_MIB = 100;
const LEFT_THOUSANDS = 1;
const LAYER_INODES = 2000;
const INODES_PER_MIB = 20;

/** Sizes of the pods' images, MiB. */
const IMAGE_MIB = [300, 500, 700, 900];
/** Images that are there from the beginning, and that no pod uses. */
const OLD_IMAGES = [1200, 1500];

/** A directory that the runtime names for its images, and one for its containers. */
const STORES: Readonly<Record<string, { images: string; containers?: string }>> = {
  single: { images: "/var/lib/containerd" },
  dedicated: { images: "/var/lib/images" },
  split: { images: "/var/lib/images", containers: "/var/lib/containerd" },
};

export type DiskLayout = "single" | "dedicated" | "split";

export type DiskFault =
  /** So much less than the threshold is available when it begins: MiB, or thousands of inodes. */
  | { do: "disk-short"; signal: Signal; below: "hard" | "soft"; missing: number; ms: number }
  /** Programs take all bytes or inodes that are left. `refills`: also those that are freed meanwhile. */
  | { do: "disk-full"; place: Place; what: "bytes" | "inodes"; refills: boolean; ms: number }
  /** A user of the runtime pulls images that no pod needs. */
  | { do: "images-pulled"; mebibytes: readonly number[] };

type Place = "nodefs" | "imagefs";

interface Taken {
  mebibytes: number;
  inodes: number;
  /** Nothing is left of it, however much is freed. */
  all?: "bytes" | "inodes";
}

/** A file that a container wrote. */
interface Written {
  pod: string;
  inode: Inode;
  /** Bytes at a steady moment. */
  bytesAt: (at: number) => number;
}

export class DiskUse {
  /** Images that no pod uses, by id, with the steady moment from which they were there. */
  readonly unusedImages = new Map<string, number>();
  readonly layout: DiskLayout;
  private readonly others = new Map<string, Taken>();
  private written: Written[] = [];
  private pulled = 0;
  private readonly sizes: typeof SIZE_MIB;
  private readonly runs: ContainerRuns;

  constructor(
    node: NodeShape,
    private readonly runtime: SimulatedRuntime,
    private readonly facts: AllFacts,
    private readonly signals: Signals,
  ) {
    this.layout = node.disks ?? "single";
    this.sizes = node.writersGrow === true ? SMALL_SIZE_MIB : SIZE_MIB;
    this.runs = new ContainerRuns(runtime.state);
    const { settings } = runtime;
    const { images = "", containers } = STORES[this.layout] ?? {};
    if (this.layout !== "single") disk.directory(images, OWN);
    disk.syncAll();
    settings.imageStore = images;
    if (containers !== undefined) settings.containerStore = containers;
    settings.layerOf = (container) => ({
      bytes: Math.floor(this.layerMiB(container) * MIB),
      inodes: this.layerInodes(container),
    });
    IMAGES.forEach((image, index) => settings.registry.set(image, { size: (IMAGE_MIB[index] ?? 0) * MIB }));
    this.pull(OLD_IMAGES);
    for (const [place, path] of [
      ["nodefs", ROOT],
      ["imagefs", images],
    ] as const) {
      const fileSystem = disk.tree.lookUp(path, "statfs").fileSystem;
      const room = (): Room => this.roomOf(fileSystem);
      signals.add(`${place}.available`, { capacity: room().bytes, available: () => room().freeBytes });
      signals.add(`${place}.inodesFree`, { capacity: INODES, available: () => room().freeInodes });
    }
    disk.roomAt = (path, fileSystem) => {
      for (const place of path === ROOT ? (["nodefs"] as const) : path === images ? (["imagefs"] as const) : []) {
        signals.read(`${place}.available`);
        signals.read(`${place}.inodesFree`);
      }
      return fileSystem in SIZE_MIB || fileSystem.startsWith("tmpfs") ? this.roomOf(fileSystem) : undefined;
    };
    if (node.fillsUp === true)
      disk.tree.roomOn = (fileSystem) => (fileSystem in SIZE_MIB ? this.roomOf(fileSystem) : undefined);
    runtime.state.eventListeners.add(({ containerId, containerEventType }) => {
      if (containerEventType === ContainerEventType.CONTAINER_STARTED_EVENT) this.started(containerId);
    });
  }

  perform(fault: DiskFault): void {
    switch (fault.do) {
      case "images-pulled":
        this.pull(fault.mebibytes);
        return;
      case "disk-full":
        this.fill(fault);
        return;
      case "disk-short":
        this.takeUp(fault);
    }
  }

  /** Power is lost: files whose directories were not on the disk are gone. */
  reboot(): void {
    const left = new Set<Inode>();
    const visit = (inode: Inode): void => {
      if (left.has(inode)) return;
      left.add(inode);
      for (const entry of inode.entries.values()) visit(entry);
    };
    visit(disk.tree.root);
    this.written = this.written.filter(({ inode }) => left.has(inode));
  }

  /** The kubelet cannot write anything. */
  get isFull(): boolean {
    return isFull(this.roomOf(NODE));
  }

  /** Where the runtime writes: images, what it keeps of containers, and what its network keeps. */
  roomFor(what: "images" | "containers" | "network"): Room {
    const isOwn = this.layout !== "single" && what === "images";
    return this.roomOf(isOwn || (this.layout === "dedicated" && what === "containers") ? OWN : NODE);
  }

  /** Inodes of a pod that count for the signal, but for a few: volumes have one file. */
  inodesOfPod(name: string, signal: Signal): number {
    const layers = [...this.newestOf(name).values()].reduce((sum, container) => sum + this.layerInodes(container), 0);
    return this.counted(signal, layers, 0);
  }

  /** MiB of a pod that count for the signal. Images, where they are alone on their disk, are no pod's. */
  ofPod(name: string, signal: Signal, at = kernel.monotonic): number {
    const layers = [...this.layersOf(name, at).values()].reduce((sum, mebibytes) => sum + mebibytes, 0);
    return this.counted(signal, layers, this.volumeMiB(name, at));
  }

  private counted(signal: Signal, layers: number, files: number): number {
    const isNode = signal.startsWith("nodefs");
    switch (this.layout) {
      case "single":
        return layers + files;
      case "dedicated":
        return isNode ? files : layers;
      case "split":
        return isNode ? layers + files : 0;
    }
  }

  /** MiB in volumes of a pod on the node's disk. */
  volumeMiB(name: string, at = kernel.monotonic): number {
    return this.filesMiB(({ pod, inode }) => pod === name && inode.fileSystem === NODE, at);
  }

  /** MiB of the newest run of each container, by its name. */
  layersOf(name: string, at = kernel.monotonic): Map<string, number> {
    return new Map([...this.newestOf(name)].map(([own, container]) => [own, this.layerMiB(container, at)]));
  }

  private newestOf(name: string): Map<string, FakeContainer> {
    const newest = new Map<string, FakeContainer>();
    for (const container of this.runtime.state.containers.values()) {
      if (podNameOf(container.config.labels) !== name) continue;
      const { name: own = "", attempt = 0 } = container.config.metadata ?? {};
      if ((newest.get(own)?.config.metadata?.attempt ?? -1) < attempt) newest.set(own, container);
    }
    return newest;
  }

  private takeUp({ signal, below, missing, ms }: Extract<DiskFault, { do: "disk-short" }>): void {
    const isBytes = signal.endsWith(".available");
    const fileSystem = this.fileSystemOf(signal.startsWith("nodefs") ? "nodefs" : "imagefs");
    const unit = isBytes ? MIB : 1000;
    const surplus = (this.signals.available(signal) - this.signals.valueOf(signal, below)) / unit + missing;
    const room = this.roomOf(fileSystem);
    const most = isBytes ? room.freeBytes / unit - LEFT_MIB : room.freeInodes / unit - LEFT_THOUSANDS;
    const taken = Math.floor(Math.min(surplus, most));
    if (taken <= 0) return;
    const before = this.others.get(fileSystem) ?? { mebibytes: USUAL_MIB, inodes: USUAL_INODES };
    const now = isBytes
      ? { ...before, mebibytes: before.mebibytes + taken }
      : { ...before, inodes: before.inodes + taken * unit };
    this.take(fileSystem, now, signal, ms);
  }

  private fill({ place, what, refills, ms }: Extract<DiskFault, { do: "disk-full" }>): void {
    const fileSystem = this.fileSystemOf(place);
    const { freeBytes, freeInodes } = this.roomOf(fileSystem);
    const now: Taken = { ...(this.others.get(fileSystem) ?? { mebibytes: USUAL_MIB, inodes: USUAL_INODES }) };
    if (what === "bytes") now.mebibytes += freeBytes / MIB;
    else now.inodes += freeInodes;
    if (refills) now.all = what;
    this.take(fileSystem, now, what === "bytes" ? `${place}.available` : `${place}.inodesFree`, ms);
  }

  /** For a time. */
  private take(fileSystem: string, taken: Taken, signal: Signal, ms: number): void {
    this.others.set(fileSystem, taken);
    const beganAt = kernel.monotonic;
    kernel.after(kernel.world, ms, () => {
      if (this.others.get(fileSystem) !== taken) return;
      this.signals.shortageEnds(signal, beganAt);
      this.others.delete(fileSystem);
    });
  }

  private fileSystemOf(place: Place): string {
    return place === "nodefs" || this.layout === "single" ? NODE : OWN;
  }

  private pull(sizes: readonly number[]): void {
    for (const mebibytes of sizes) {
      const image = makeImage(`nodelet.local/pulled-${++this.pulled}:1`, { size: mebibytes * MIB });
      this.runtime.state.images.set(image.id, image);
      this.unusedImages.set(image.id, kernel.monotonic);
    }
  }

  /** It writes a file to its pod's volume. */
  private started(id: string): void {
    const { containers, sandboxes } = this.runtime.state;
    const container = containers.get(id);
    const pod = podNameOf(container?.config.labels ?? {});
    const own = container?.config.metadata?.name ?? "";
    const shape = this.facts.pods.get(pod)?.shape.disk;
    const writes = shape?.volumeMiB[own] ?? 0;
    const uid = sandboxes.get(container?.sandboxId ?? "")?.config.metadata?.uid;
    const path = `${ROOT}/pods/${uid}/volumes/kubernetes.io~empty-dir/scratch`;
    if (writes === 0 || !disk.tree.exists(path)) return;
    const folder = disk.tree.lookUp(path, "open");
    const name = `data-${own}`;
    if (folder.entries.has(name)) return;
    const inode = new Inode("file", 0o644, folder.fileSystem);
    inode.bulk = writes * MIB;
    inode.sync();
    folder.setEntry(name, inode);
    const speed = shape?.growth?.volumeMiB[own] ?? 0;
    const run = this.runs.of(id);
    const grown = (at: number): number => speed * MIB * writingSeconds(run, shape?.growth, at);
    if (speed > 0) inode.grows = () => Math.floor(grown(kernel.monotonic));
    this.written.push({ pod, inode, bytesAt: (at) => inode.bulk + grown(at) });
  }

  /** MiB of the writable layer of a container that has run. */
  private layerMiB({ config, status }: FakeContainer, at = kernel.monotonic): number {
    const { id, state } = status;
    if (state === ContainerState.CONTAINER_CREATED) return 0;
    const shape = this.facts.pods.get(podNameOf(config.labels))?.shape.disk;
    const own = config.metadata?.name ?? "";
    const speed = shape?.growth?.layerMiB[own] ?? 0;
    return (shape?.layerMiB[own] ?? 0) + speed * writingSeconds(this.runs.of(id), shape?.growth, at);
  }

  private layerInodes({ config }: FakeContainer): number {
    const shape = this.facts.pods.get(podNameOf(config.labels))?.shape.disk;
    return shape?.inodes?.[config.metadata?.name ?? ""] ?? LAYER_INODES;
  }

  private filesMiB(has: (file: Written) => boolean, at = kernel.monotonic): number {
    this.written = this.written.filter(({ inode }) => inode.links > 0);
    return this.written.filter(has).reduce((sum, { bytesAt }) => sum + bytesAt(at) / MIB, 0);
  }

  private roomOf(fileSystem: string): Room {
    const bytes = (this.sizes[fileSystem] ?? TMPFS_MIB) * MIB;
    const files = this.filesMiB(({ inode }) => inode.fileSystem === fileSystem);
    if (!(fileSystem in this.sizes)) {
      return { bytes, freeBytes: bytes - files * MIB, inodes: INODES, freeInodes: INODES - 10 };
    }
    const { state } = this.runtime;
    const taken = { mebibytes: files, inodes: 0 };
    const others = this.others.get(fileSystem) ?? { mebibytes: USUAL_MIB, inodes: USUAL_INODES };
    taken.mebibytes += others.mebibytes;
    taken.inodes += others.inodes;
    if (fileSystem === (this.layout === "single" ? NODE : OWN)) {
      const images = [...state.images.values()].reduce((sum, { size }) => sum + Number(size) / MIB, 0);
      taken.mebibytes += images;
      taken.inodes += images * INODES_PER_MIB;
    }
    if (fileSystem === (this.layout === "dedicated" ? OWN : NODE)) {
      for (const container of state.containers.values()) {
        taken.mebibytes += this.layerMiB(container);
        taken.inodes += this.layerInodes(container);
      }
    }
    return {
      bytes,
      freeBytes: others.all === "bytes" ? 0 : Math.max(0, Math.floor(bytes - taken.mebibytes * MIB)),
      inodes: INODES,
      freeInodes: others.all === "inodes" ? 0 : Math.max(0, Math.floor(INODES - taken.inodes)),
    };
  }
}

/** Neither a block nor an inode can be had. */
export function isFull({ freeBytes, freeInodes }: Room): boolean {
  return freeBytes < BLOCK || freeInodes < 1;
}

/** A container writes for a while after its start. */
function writingSeconds(run: Run | undefined, growth: Growth | undefined, at: number): number {
  return Math.min(growth?.forMs ?? 0, run?.ranMs(at) ?? 0) / 1000;
}
