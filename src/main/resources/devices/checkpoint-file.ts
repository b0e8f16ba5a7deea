// The checkpoint on disk: read once, written whole after each change.
// Invariant: a container's devices are on disk, synced, before the container starts. One write at a time; changes
// during a write are in the next one.

import { join } from "node:path";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import { lastSetAside, readState, removeLeftovers, setAside } from "../../../shared/io/fs/state-file.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { LostState } from "../assignment/unknown-holders.js";
import { decodeCheckpoint, encodeCheckpoint, type CheckpointData, type CheckpointEntry } from "./checkpoint.js";
import type { GrantedEntry } from "./granted-devices.js";

const CHECKPOINT_NAME = "kubelet_internal_checkpoint";

interface CheckpointContent {
  entries: readonly GrantedEntry[];
  /** Resource to the devices that can be handed out. */
  registered: ReadonlyMap<string, readonly string[]>;
}

export interface CheckpointReading {
  /** undefined: there is no file, or none that can be used. */
  content: CheckpointContent | undefined;
  /** A file that was set aside, now or by an earlier kubelet. Devices of pods from before that may have no entry. */
  lost: LostState | undefined;
}

export interface CheckpointFileOptions {
  /** <root-dir>/device-plugins */
  directory: string;
  clock: Clock;
  log: Logger;
  /** The loop's share of encoding. */
  loop: { turn(): Promise<void> };
  /** Returns the state to write, called when the write begins. */
  content: () => CheckpointContent;
}

export class CheckpointFile {
  private readonly path: string;
  private next: Promise<void> | undefined;
  private last: Promise<void> = Promise.resolve();

  constructor(private readonly options: CheckpointFileOptions) {
    this.path = join(options.directory, CHECKPOINT_NAME);
  }

  /**
   * Reads the checkpoint of an earlier kubelet. A file that cannot be used is set aside with a warning for every fault.
   * The next write would replace it, and with it the evidence that devices of running pods are unknown.
   */
  async read(): Promise<CheckpointReading> {
    const { clock, log } = this.options;
    const { path } = this;
    try {
      await removeLeftovers(path);
      const data = await readState(path, decodeCheckpoint, { clock, log });
      const content = data && (await contentOf(data));
      const aside = await lastSetAside(path);
      return { content, lost: aside === undefined ? undefined : { path, aside } };
    } catch (error) {
      const aside = await setAside(path, clock).catch(() => undefined);
      log.warn(
        { err: error, path, aside },
        `the device checkpoint ${path} cannot be read: ${errorText(error)}; ` +
          `${aside === undefined ? "" : `set aside as ${aside}; `}devices of running pods are unknown`,
      );
      return { content: undefined, lost: { path, aside } };
    }
  }

  /** Resolves when the state at the time of this call, or a later one, is on disk. Rejects if the write fails. */
  save(): Promise<void> {
    this.next ??= this.last
      .catch(() => undefined)
      .then(async () => {
        this.next = undefined;
        this.last = this.write();
        await this.last;
      });
    return this.next;
  }

  /** Resolves when nothing is being written. Never rejects. */
  async settled(): Promise<void> {
    await this.next?.catch(() => undefined);
    await this.last.catch(() => undefined);
  }

  private async write(): Promise<void> {
    const { entries, registered } = this.options.content();
    const data: CheckpointData = {
      PodDeviceEntries: entries.length === 0 ? null : await this.encoded(entries),
      RegisteredDevices: Object.fromEntries([...registered].map(([resource, ids]) => [resource, [...ids]])),
    };
    await atomicWrite(this.path, await encodeCheckpoint(data, this.options.loop));
  }

  private async encoded(entries: readonly GrantedEntry[]): Promise<CheckpointEntry[]> {
    const encoded: CheckpointEntry[] = [];
    for (const entry of entries) {
      await this.options.loop.turn();
      encoded.push(await encodeEntry(entry));
    }
    return encoded;
  }
}

/** Only nodes with devices need the code. */
async function responseCodec() {
  const { ContainerAllocateResponse } = await import("../../../shared/kubernetes/plugins/gen/deviceplugin.v1beta1.js");
  return ContainerAllocateResponse;
}

async function encodeEntry(entry: GrantedEntry): Promise<CheckpointEntry> {
  const codec = await responseCodec();
  return {
    PodUID: entry.podUid,
    ContainerName: entry.container,
    ResourceName: entry.resource,
    DeviceIDs: Object.fromEntries([...entry.byNode].map(([node, ids]) => [String(node), [...ids]])),
    AllocResp: Buffer.from(codec.encode(entry.response).finish()).toString("base64"),
  };
}

async function contentOf({ PodDeviceEntries, RegisteredDevices }: CheckpointData): Promise<CheckpointContent> {
  const entries = (PodDeviceEntries ?? []).map(async (entry): Promise<GrantedEntry> => {
    const codec = await responseCodec();
    return {
      podUid: entry.PodUID,
      container: entry.ContainerName,
      resource: entry.ResourceName,
      byNode: new Map(Object.entries(entry.DeviceIDs).map(([node, ids]) => [Number(node), ids ?? []])),
      response: codec.decode(Buffer.from(entry.AllocResp, "base64")),
    };
  });
  const registered = Object.entries(RegisteredDevices).map(([resource, ids]) => [resource, ids ?? []] as const);
  return { entries: await Promise.all(entries), registered: new Map(registered) };
}
