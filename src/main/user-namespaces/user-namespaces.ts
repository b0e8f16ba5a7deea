// Hands out the ids of pods with hostUsers: false, keeps them on disk and takes them back. What must hold: before the first
// id is handed out, all that earlier agents handed out are known; a pod keeps its ids as long as anything of it is there.
import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import type { Pod } from "../../shared/api/pod.js";
import { NamespaceMode, type UserNamespace } from "../../shared/cri/gen/runtime.v1.js";
import { errorCode } from "../../shared/fs/atomic-write.js";
import { podsDir, usernsPath } from "../runtime/config/data-dirs.js";
import { podIdRange, type CommandAnswer, type IdRange, type RunCommand } from "./id-range.js";
import { IdSlots } from "./id-slots.js";
import { readMappings, writeMappings } from "./mappings-file.js";

export interface UserNamespacesOptions {
  rootDir: string;
  /** userNamespaces.idsPerPod. */
  idsPerPod: number;
  maxPods: number;
  run?: RunCommand;
}

export class UserNamespaces {
  private readonly slots = new IdSlots();
  private loaded: Promise<IdRange> | undefined;
  /** Pods whose ids are being handed out: a second request for one joins the first. */
  private readonly underWay = new Map<string, Promise<IdRange>>();

  constructor(private readonly options: UserNamespacesOptions) {}

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
  release(uid: string): void {
    this.slots.release(uid);
  }

  private async handOut(uid: string): Promise<IdRange> {
    const known = this.slots.of(uid);
    if (known !== undefined) return known;
    const range = await this.load();
    const found = this.slots.of(uid);
    if (found !== undefined) return found;
    const slot = this.slots.take(uid, range, this.options.idsPerPod);
    try {
      await writeMappings(usernsPath(this.options.rootDir, uid), slot);
      return slot;
    } catch (error) {
      this.slots.release(uid);
      throw error;
    }
  }

  /** Once; again after a failure, as its cause may have been put right. */
  private load(): Promise<IdRange> {
    this.loaded ??= this.readAll().catch((error: unknown) => {
      this.loaded = undefined;
      throw error;
    });
    return this.loaded;
  }

  private async readAll(): Promise<IdRange> {
    const { rootDir, idsPerPod, maxPods, run = runCommand } = this.options;
    const range = await podIdRange(run, idsPerPod, maxPods);
    for (const uid of await podUids(rootDir)) {
      const slot = await readMappings(usernsPath(rootDir, uid));
      if (slot !== undefined) this.slots.claim(uid, slot);
    }
    return range;
  }
}

async function podUids(rootDir: string): Promise<string[]> {
  try {
    return await readdir(podsDir(rootDir));
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
