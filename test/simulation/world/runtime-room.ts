// The runtime's own need of room: on a full disk it can neither pull an image, nor make a sandbox or a container, nor
// start one. It says so as containerd does.

import type { FakeRoom } from "../../fake-cri/context.js";
import type { Random } from "../kernel/random.js";
import { isFull, type DiskUse } from "./disk-use.js";
import type { SimulatedRuntime } from "./runtime.js";

const STATE = "/var/lib/containerd";
const SNAPSHOTS = `${STATE}/io.containerd.snapshotter.v1.overlayfs/snapshots`;
const CRI = `${STATE}/io.containerd.grpc.v1.cri`;
const TASKS = `${STATE}/io.containerd.runtime.v2.task/k8s.io`;
export const NO_ROOM = "no space left on device";

/** Part of the failed pulls that fail as layers are unpacked, and of the failed creations without a folder. */
const UNPACKING = 0.5;
const WITHOUT_FOLDER = 0.5;
/** Part of the failed sandboxes that are left. */
const LEFT = 0.3;

export class RuntimeRoom implements FakeRoom {
  constructor(
    private readonly random: Random,
    private readonly disks: DiskUse,
    { settings }: SimulatedRuntime,
  ) {
    settings.room = this;
    settings.startFails = () => this.start();
  }

  pull(reference: string, bytes: number): string | undefined {
    const { freeBytes, freeInodes } = this.disks.roomFor("images");
    if (bytes <= freeBytes && freeInodes > 0) return undefined;
    const layer = `${SNAPSHOTS}/${this.random.below(1000)}/fs/usr/lib/libc.so.6`;
    const what = this.random.chance(UNPACKING)
      ? `failed to extract layer sha256:${"0".repeat(64)}: write ${layer}: ${NO_ROOM}: unknown`
      : `failed to copy: write ${STATE}/io.containerd.content.v1.content/ingest/0/data: ${NO_ROOM}`;
    return `failed to pull and unpack image "${reference}": ${what}`;
  }

  sandbox(id: string): { why: string; isLeft: boolean } | undefined {
    const { disks } = this;
    const isFirst = isFull(disks.roomFor("containers"));
    if (isFirst && !this.random.chance(LEFT)) return { why: this.folder("sandbox", id), isLeft: false };
    if (!isFirst && !isFull(disks.roomFor("network"))) return undefined;
    const why = `failed to setup network for sandbox "${id}": plugin type="host-local" failed (add): write: ${NO_ROOM}`;
    return { why, isLeft: true };
  }

  container(id: string): string | undefined {
    return isFull(this.disks.roomFor("containers")) ? this.folder("container", id) : undefined;
  }

  private start(): string | undefined {
    if (!isFull(this.disks.roomFor("containers"))) return undefined;
    return `failed to create shim task: mkdir ${TASKS}/${this.random.below(1000)}: ${NO_ROOM}`;
  }

  private folder(what: "sandbox" | "container", id: string): string {
    if (this.random.chance(WITHOUT_FOLDER))
      return `failed to create containerd container: failed to create temp dir: mkdir ${SNAPSHOTS}/new-1: ${NO_ROOM}: unknown`;
    const root = `${CRI}/${what === "sandbox" ? "sandboxes" : "containers"}/${id}`;
    const kind = what === "sandbox" ? "sandbox root directory" : "container root directory";
    return `failed to create ${kind} "${root}": mkdir ${root}: ${NO_ROOM}`;
  }
}
