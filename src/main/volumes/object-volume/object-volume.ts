// The common part of volumes from config maps, secrets, the downward API and projections. The kubelet writes their
// files, in memory or on disk, and replaces changed files in one step.
// Invariant: the kubelet mounts and writes nothing before the whole content is known; unchanged content is not read
// from disk again; a failed update leaves the old files.

import { chmod, mkdir, open } from "node:fs/promises";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { metaDirectory, volumeDirectory } from "../../../shared/kubernetes/api/pod-paths.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { writePayload } from "../atomic-writer/atomic-writer.js";
import type { Payload, PayloadFile } from "../atomic-writer/payload.js";
import { tmpfsSize } from "../empty-dir/tmpfs-size.js";
import { UnsupportedVolumeError, VolumeSetUpError } from "../errors.js";
import { setOwnership, type OwnershipDeps } from "../fs-group/set-ownership.js";
import { isMountPoint } from "../mounts.js";
import { OwnMounts } from "../own-mount.js";
import { POD_DIRECTORY_MODE, READY_FILE } from "../paths.js";
import type { SetUpRequest, VolumePlugin } from "../plugin.js";
import { removeOwnTree } from "../remove-tree.js";
import { nestedMountPoints } from "./nested-mount-points.js";

export interface ObjectVolumeKind {
  /** "kubernetes.io/secret". */
  name: string;
  /** Field of the volume: "secret". */
  source: string;
  /** Its files are in a tmpfs of the volume's own, never on the node's disk. */
  inMemory: boolean;
  /** All files as they have to be now. Rejects when any part cannot be had. */
  collect(request: SetUpRequest): Promise<Payload>;
}

export interface ObjectVolumeDeps {
  rootDir: string;
  /** Upper bound for the size of the tmpfs, bytes. */
  nodeMemoryBytes: bigint;
  clock: Clock;
  ownership: OwnershipDeps;
}

/** Mode of the volume's own directory, as upstream's: sticky in memory only. */
const DISK_MODE = 0o777;
const MEMORY_MODE = 0o1777;
const NESTED_MODE = 0o755;

export function objectVolumePlugin(kind: ObjectVolumeKind, deps: ObjectVolumeDeps): VolumePlugin {
  const volumes = new ObjectVolumes(kind, deps);
  return {
    name: kind.name,
    source: kind.source,
    setUp: async (request) => ({ hostPath: await volumes.writeOrKeep(request), readOnly: true, relabel: true }),
    refresh: async (request) => {
      await volumes.writeContent(request, false);
    },
    tearDown: (uid, volume) => volumes.tearDown(uid, volume),
  };
}

/** The volumes of one kind on this node, and what this process has written into them. */
class ObjectVolumes {
  private readonly ownMounts = new OwnMounts();
  /** The content that this process last wrote, by directory. */
  private readonly written = new Map<string, Payload>();

  constructor(
    private readonly kind: ObjectVolumeKind,
    private readonly deps: ObjectVolumeDeps,
  ) {}

  /**
   * A restarted container finds its files again, even if their source object was removed. `refresh` reports the
   * removal.
   */
  async writeOrKeep(request: SetUpRequest): Promise<string> {
    try {
      return await this.writeContent(request, true);
    } catch (error) {
      const directory = this.directoryOf(request.pod.metadata.uid, request.volume.name);
      if (!(error instanceof VolumeSetUpError) || !this.written.has(directory)) throw error;
      return directory;
    }
  }

  /** Returns the volume's directory. @param anew unchanged content is written again, too */
  async writeContent(request: SetUpRequest, anew: boolean): Promise<string> {
    const { pod, volume, signal } = request;
    const directory = this.directoryOf(pod.metadata.uid, volume.name);
    try {
      const payload = await this.kind.collect(request);
      signal.throwIfAborted();
      const before = this.written.get(directory);
      if (!anew && before !== undefined && samePayload(before, payload)) return directory;
      const nested = nestedMountPoints(pod, volume.name);
      const fresh = (await this.makeDirectory(pod, volume.name, directory)) && nested.length === 0;
      for (const path of nested) await mkdir(`${directory}/${path}`, { recursive: true, mode: NESTED_MODE });
      await this.write(request, { directory, payload, fresh });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof UnsupportedVolumeError || error instanceof VolumeSetUpError) throw error;
      const problem = messageOf(error);
      throw new VolumeSetUpError(pod, volume.name, problem, { cause: error });
    }
    return directory;
  }

  async tearDown(uid: PodUid, volume: string): Promise<void> {
    const target = this.directoryOf(uid, volume);
    const meta = this.metaOf(uid, volume);
    this.written.delete(target);
    await this.ownMounts.removeVolume({ uid, target, meta }, ["tmpfs"], removeOwnTree);
    // Last, so that an interrupted teardown finds the volume again.
    await removeOwnTree(meta);
  }

  /** Resolves to whether it was made, or mounted, just now: then there is nothing in it. */
  private async makeDirectory(pod: Pod, volume: string, directory: string): Promise<boolean> {
    const made = await mkdir(directory, { recursive: true, mode: POD_DIRECTORY_MODE });
    if (!this.kind.inMemory) {
      await chmod(directory, DISK_MODE);
      return made !== undefined;
    }
    if (made === undefined && (await isMountPoint(directory))) return false;
    const sizeBytes = tmpfsSize(pod, {}, this.deps.nodeMemoryBytes).toString();
    const data = `size=${sizeBytes},mode=${MEMORY_MODE.toString(8)}`;
    const intent = { version: 1, kind: "tmpfs", target: directory, sizeBytes } as const;
    await this.ownMounts.make(this.metaOf(pod.metadata.uid, volume), intent, data);
    return true;
  }

  private async write(
    { pod, volume, signal }: SetUpRequest,
    { directory, payload, fresh }: { directory: string; payload: Payload; fresh: boolean },
  ): Promise<void> {
    const { clock, ownership } = this.deps;
    const { name: plugin, inMemory } = this.kind;
    const grouped = pod.spec.securityContext?.fsGroup !== undefined;
    await writePayload(
      directory,
      payload,
      omitUndefined({
        clock,
        fresh,
        beforeVisible: grouped
          ? () => setOwnership(ownership, { pod, directory, plugin, readOnly: true, always: true, signal })
          : undefined,
      }),
    );
    this.written.set(directory, payload);
    // For memory-backed volumes the mount itself is the record.
    if (inMemory) return;
    const meta = this.metaOf(pod.metadata.uid, volume.name);
    await mkdir(meta, { recursive: true, mode: POD_DIRECTORY_MODE });
    await (await open(`${meta}/${READY_FILE}`, "w", 0o640)).close();
  }

  private directoryOf(uid: PodUid, volume: string): string {
    return volumeDirectory(this.deps.rootDir, uid, this.kind.name, volume);
  }

  private metaOf(uid: PodUid, volume: string): string {
    return metaDirectory(this.deps.rootDir, uid, this.kind.name, volume);
  }
}

/** Whether two contents of a volume are the same, file for file. */
function samePayload(a: Payload, b: Payload): boolean {
  if (a.size !== b.size) return false;
  for (const [path, file] of a) {
    const other = b.get(path);
    if (other === undefined || file.mode !== other.mode || file.user !== other.user || !sameData(file, other)) {
      return false;
    }
  }
  return true;
}

function sameData({ data: a }: PayloadFile, { data: b }: PayloadFile): boolean {
  if (typeof a === "string" && typeof b === "string") return a === b;
  return Buffer.from(a).equals(Buffer.from(b));
}
