// Allocates the ids of pods with hostUsers: false, persists them and releases them. Invariant: before the first
// allocation, all allocations of earlier kubelets are known; a pod keeps its ids until it is removed; a pod with a
// damaged file delays no other pod, and its ids in the runtime are allocated to none.

import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { asError } from "../../../shared/base/errors/thrown.js";
import { lazily } from "../../../shared/base/turns/lazily.js";
import { podsDirectory, usernsPath } from "../../../shared/kubernetes/api/pod-paths.js";
import { isSafePodUid } from "../../../shared/kubernetes/api/pod-uid.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { NamespaceMode, type UserNamespace } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { podIdRange, type CommandAnswer, type IdRange, type RunCommand } from "./id-range.js";
import { IdSlots } from "./id-slots.js";
import { writeMappings, readMappings } from "./mapping-file.js";
import type { ObservedIds } from "./observed-ids.js";

export interface UserNamespacesOptions {
  rootDir: string;
  /** userNamespaces.idsPerPod. */
  idsPerPod: number;
  maxPods: number;
  run?: RunCommand;
}

export interface UserNamespacesDeps {
  observed: ObservedIds;
  log: Pick<Logger, "warn">;
}

export class UserNamespaces {
  private readonly slots = new IdSlots();
  /** Reads the range of all pods, and the mappings on disk. */
  private readonly load = lazily(() => this.readAll());
  /** Pods whose ids are being handed out: a second request for one joins the first. */
  private readonly underWay = new Map<PodUid, Promise<IdRange>>();

  /** Pods that must not start: their ids are not known to be theirs alone. */
  private readonly refused = new Map<PodUid, Error>();
  /** While the files are read: pods that were released since, so that what was read of them is outdated. */
  private releasedMeanwhile: Set<PodUid> | undefined;

  constructor(
    private readonly options: UserNamespacesOptions,
    private readonly deps: UserNamespacesDeps,
  ) {}

  /** undefined for a pod on the node's own ids. Rejects with UserNamespaceError when there are none to have. */
  async forPod({ metadata: { uid }, spec }: Pod): Promise<UserNamespace | undefined> {
    if (spec.hostUsers !== false) return undefined;
    const asked = this.underWay.get(uid) ?? this.handOut(uid).finally(() => this.underWay.delete(uid));
    this.underWay.set(uid, asked);
    const { first, length } = await asked;
    const ids = [{ hostId: first, containerId: 0, length }];
    return { mode: NamespaceMode.POD, uids: ids, gids: ids };
  }

  /** Nothing of the pod is left, its directory included. */
  release(uid: PodUid): void {
    this.releasedMeanwhile?.add(uid);
    this.slots.release(uid);
    this.refused.delete(uid);
  }

  private async handOut(uid: PodUid): Promise<IdRange> {
    const known = this.slots.of(uid);
    if (known !== undefined && this.releasedMeanwhile?.has(uid) !== true) return known;
    const range = await this.load();
    const refused = this.refused.get(uid);
    if (refused !== undefined) throw refused;
    const found = this.slots.of(uid);
    if (found !== undefined) return found;
    const slot = this.slots.allocate(uid, range, this.options.idsPerPod);
    try {
      await writeMappings(usernsPath(this.options.rootDir, uid), slot);
      return slot;
    } catch (error) {
      this.slots.release(uid);
      throw error;
    }
  }

  private async readAll(): Promise<IdRange> {
    const { rootDir, idsPerPod, maxPods, run = runCommand } = this.options;
    const released = (this.releasedMeanwhile = new Set<PodUid>());
    try {
      const range = await podIdRange(run, idsPerPod, maxPods);
      for (const uid of await podUids(rootDir)) await this.readOne(uid);
      return range;
    } finally {
      this.releasedMeanwhile = undefined;
      for (const uid of released) this.release(uid);
    }
  }

  private async readOne(uid: PodUid): Promise<void> {
    const path = usernsPath(this.options.rootDir, uid);
    let slot: IdRange | undefined;
    try {
      slot = await readMappings(path);
      if (slot !== undefined) this.slots.claim(uid, slot);
    } catch (error) {
      await this.onDamaged(uid, error, slot);
    }
  }

  /** Only this pod waits. @throws the error of the runtime's call: then no ids are assigned at all */
  private async onDamaged(uid: PodUid, error: unknown, slot: IdRange | undefined): Promise<void> {
    const running = await this.deps.observed(uid);
    const ids = slot === undefined ? running : [...running, slot];
    this.slots.block(uid, ids);
    const reserved = ids.map(({ first, length }) => `${first} to ${first + length - 1}`).join(", ");
    const what = ids.length === 0 ? "nothing of the pod runs with ids of its own" : `the ids ${reserved} stay reserved`;
    this.deps.log.warn({ err: error, uid }, `the user namespace of pod ${uid} could not be read: ${what}`);
    // Without a sandbox in the runtime the pod gets new ids, and a new file, when it starts.
    if (ids.length > 0) this.refused.set(uid, asError(error));
  }
}

async function podUids(rootDir: string): Promise<PodUid[]> {
  try {
    return (await readdir(podsDirectory(rootDir))).filter(isSafePodUid);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

const COMMAND_TIMEOUT_MS = 10_000;

const runCommand: RunCommand = (program, args) =>
  new Promise<CommandAnswer | undefined>((resolve, reject) => {
    execFile(program, [...args], { timeout: COMMAND_TIMEOUT_MS }, (error, stdout, stderr) => {
      if (error === null) resolve({ status: 0, stdout, stderr });
      else if (error.code === "ENOENT") resolve(undefined);
      else if (typeof error.code === "number") resolve({ status: error.code, stdout, stderr });
      else reject(new Error(`${program} ${args.join(" ")} could not be run: ${error.message}`, { cause: error }));
    });
  });
