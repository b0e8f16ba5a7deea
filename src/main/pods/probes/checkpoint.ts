// The probe results on disk, for the next kubelet: a Ready pod stays Ready until a probe changes it.
// Invariant: the file is never more than one write behind; a disk that fails costs a warning and nothing else.
// Not synced to disk: no container outlives the machine.

import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { ProbeKind, ProbeVerdict } from "../../../shared/contracts/prober.js";
import { PROBE_KINDS } from "../../../shared/contracts/prober.js";
import { readState, removeLeftovers, writeState } from "../../../shared/io/fs/state-file.js";
import { containerIdOf, podUid } from "../../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { decodeKills, type KillsOnDisk, type ProbeKills } from "./probe-kills.js";
import type { ContainerVerdicts, Verdicts } from "./verdicts.js";

/** Verdicts that come within this of a write go together into the next. */
const SPACING_MS = 100;
const RETRY_MS = 10_000;

type PodsOnDisk = Record<string, Record<string, ContainerVerdicts>>;

interface StateOnDisk {
  pods: PodsOnDisk;
  /** Absent: written by a kubelet that did not keep them. */
  kills?: KillsOnDisk;
}

export class ProbeCheckpoint {
  private dirty = false;
  private writing: Promise<void> | undefined;
  private timer: Timer | undefined;
  private failing = false;
  private stopped = false;

  constructor(
    private readonly path: string,
    private readonly verdicts: Verdicts,
    private readonly kills: ProbeKills,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Reads the verdicts of the previous kubelet process; a damaged file is set aside. */
  async load(): Promise<void> {
    const { path, clock, log, verdicts } = this;
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o750 });
      await removeLeftovers(path);
      const { pods = {}, kills = {} } = (await readState(path, decode, { clock, log })) ?? {};
      this.kills.fromDisk(kills);
      for (const [uid, containers] of Object.entries(pods)) {
        for (const [id, found] of Object.entries(containers)) {
          for (const kind of PROBE_KINDS) {
            const verdict = found[kind];
            if (verdict !== undefined) verdicts.set(podUid(uid), containerIdOf(id), kind, verdict);
          }
        }
      }
    } catch (error) {
      const message = messageOf(error);
      log.warn({ path, err: error }, `probe results ${path} can't be read: ${message}; pods are probed from the start`);
    }
  }

  /** The verdicts changed. Written at once when nothing was written lately. */
  save(): void {
    this.dirty = true;
    if (this.writing === undefined && this.timer === undefined) void this.write();
  }

  /** Writes pending changes; after that no write is repeated. */
  async flush(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    await this.writing;
    if (this.dirty) await this.write();
  }

  private write(): Promise<void> {
    this.dirty = false;
    const pods: PodsOnDisk = {};
    for (const [uid, containers] of this.verdicts.entries()) pods[uid] = Object.fromEntries(containers);
    const state: StateOnDisk & { version: 1 } = { version: 1, pods, kills: this.kills.toDisk() };
    this.writing = writeState(this.path, state, { durable: false }).then(
      () => this.onWritten(),
      (error: unknown) => this.onFailed(error),
    );
    return this.writing;
  }

  private onWritten(): void {
    this.writing = undefined;
    if (this.failing) this.log.info(`writing probe results to ${this.path} succeeded again`);
    this.failing = false;
    this.again(SPACING_MS);
  }

  private onFailed(error: unknown): void {
    this.writing = undefined;
    this.dirty = true;
    const message = messageOf(error);
    if (!this.failing) {
      this.log.error(
        { err: error },
        `cannot write probe results to ${this.path}: ${message}; after a restart of the kubelet pods may be shown as ` +
          `not ready until their probes have run`,
      );
    }
    this.failing = true;
    this.again(RETRY_MS);
  }

  private again(ms: number): void {
    if (this.stopped) return;
    this.timer = this.clock
      .after(ms, () => {
        this.timer = undefined;
        if (this.dirty) void this.write();
      })
      .unref();
  }
}

function decode(value: unknown): StateOnDisk {
  const state = value as { version?: unknown; pods?: unknown; kills?: unknown } | null;
  if (state?.version !== 1) throw new Error("not probe results of version 1");
  const pods = record(state.pods, "pods");
  const decoded: PodsOnDisk = {};
  for (const [uid, containers] of Object.entries(pods)) {
    const ofPod: Record<string, ContainerVerdicts> = {};
    for (const [id, found] of Object.entries(record(containers, uid))) ofPod[id] = verdictsOf(record(found, id));
    decoded[uid] = ofPod;
  }
  if (state.kills === undefined) return { pods: decoded };
  return { pods: decoded, kills: decodeKills(record(state.kills, "kills")) };
}

function verdictsOf(found: Record<string, unknown>): ContainerVerdicts {
  const entries = Object.entries(found).map(([kind, verdict]): [ProbeKind, ProbeVerdict] => {
    const known = PROBE_KINDS.find((candidate) => candidate === kind);
    if (known === undefined || (verdict !== "Success" && verdict !== "Failure")) {
      throw new Error(`${kind}: ${String(verdict)} is no result of a probe`);
    }
    return [known, verdict];
  });
  return Object.fromEntries(entries);
}

function record(value: unknown, where: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${where} is not an object`);
  return value as Record<string, unknown>;
}
