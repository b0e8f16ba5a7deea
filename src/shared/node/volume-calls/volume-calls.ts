// Calls to file systems of volumes. If the path leads over a mount that may hang, a helper process makes the call when
// scheduled. Every other call is made at once. Invariant: no call on such a mount holds a thread of libuv's pool. Every
// call ends, at the latest with VolumeNotAnsweringError after its deadline. Without such mounts no helper is started,
// and idle ones are stopped.

import { unlessAborted } from "../../base/abort/unless-aborted.js";
import type { Clock, Timer } from "../../base/clock/clock.js";
import { type WallTime, later } from "../../base/clock/moments.js";
import type { HungMount } from "../../contracts/nodelet.js";
import type { Logger } from "../../telemetry/log/logger.js";
import { SubPathError, VolumeHelperError, VolumeNotAnsweringError } from "./errors.js";
import type { Helper, StartHelper } from "./helper.js";
import { findHangable, readHangable, type HangableMount, type HangableMounts } from "./may-hang.js";
import type {
  HelperAnswer,
  HelperError,
  HelperRequest,
  LocalName,
  OperationName,
  RequestOf,
  ResultOf,
} from "./operations.js";
import { perform } from "./perform.js";
import { CallSchedule, LIMITS, type ScheduleLimits, type Step } from "./schedule.js";

export interface VolumeCallsDeps {
  clock: Clock;
  log: Pick<Logger, "warn" | "info">;
  startHelper: StartHelper;
  limits?: ScheduleLimits;
  /** For tests. */
  mounts?: () => Promise<HangableMounts>;
}

/** A helper without work ends after this. */
const IDLE_MS = 10_000;

/** The places that a call touches; with `below` links in it may lead to any place under them. */
export interface Places {
  paths: readonly string[];
  below?: boolean;
}

interface Pending {
  mount: HangableMount;
  path: string;
  request: HelperRequest;
  resolve: (answer: HelperAnswer) => void;
  reject: (error: Error) => void;
  helper?: Worker;
}

interface Worker {
  helper: Helper;
  /** Its present call, or the last one before it was given up. */
  id: number | undefined;
  idle: Timer | undefined;
  killed: boolean;
}

export class VolumeCalls {
  private readonly schedule: CallSchedule;
  private readonly pending = new Map<number, Pending>();
  private readonly workers = new Set<Worker>();
  /** Mounts that were reported, by device. */
  private readonly reported = new Map<string, { mount: HangableMount; since: WallTime }>();
  private lastMounts: HangableMounts | undefined;
  private timer: Timer | undefined;
  private lastId = 0;
  private closed = false;

  constructor(private readonly deps: VolumeCallsDeps) {
    this.schedule = new CallSchedule(deps.limits ?? LIMITS);
  }

  /** Rejects as the operation does, with VolumeNotAnsweringError, or with the signal's reason. */
  async call<Name extends LocalName>(
    name: Name,
    request: RequestOf<Name>,
    places: Places,
    signal?: AbortSignal,
  ): Promise<ResultOf<Name>> {
    const mount = await this.onTheWay(places);
    signal?.throwIfAborted();
    if (mount === undefined) return perform[name](request);
    return this.ask(name, request, { mount, path: places.paths[0] ?? "", long: false }, signal);
  }

  /** An operation that only a helper makes, on the volume at `path`, which is on a mount that may hang. */
  async callHelper<Name extends OperationName>(
    name: Name,
    request: RequestOf<Name>,
    path: string,
    signal?: AbortSignal,
  ): Promise<ResultOf<Name>> {
    const unknown = { device: path, mountPoint: path, fsType: "unknown", source: path };
    const mount = (await this.onTheWay({ paths: [path] })) ?? unknown;
    return this.ask(name, request, { mount, path, long: true }, signal);
  }

  /** Whether a path leads over a mount that may hang. */
  async mayHang(path: string): Promise<boolean> {
    return (await this.onTheWay({ paths: [path] })) !== undefined;
  }

  /** Mounts on which the last call was given up. */
  notAnswering(): HungMount[] {
    return [...this.reported.values()].map(({ mount, since }) => {
      const { mountPoint, source, fsType } = mount;
      return { mountPoint, source, fsType, since };
    });
  }

  /** Aborts pending calls. */
  close(): void {
    this.closed = true;
    this.timer?.cancel();
    for (const worker of this.workers) this.end(worker);
    for (const call of this.pending.values()) call.reject(new VolumeHelperError("the kubelet stops"));
    this.pending.clear();
  }

  private async onTheWay({ paths, below = false }: Places): Promise<HangableMount | undefined> {
    const mounts = await (this.deps.mounts ?? readHangable)();
    if (mounts !== this.lastMounts) {
      this.lastMounts = mounts;
      const devices = new Set([...mounts.values()].map(({ device }) => device));
      this.schedule.keepOnly((device) => devices.has(device));
    }
    for (const path of paths) {
      const found = await findHangable(path, { below, mounts });
      if (found !== undefined) return found;
    }
    return undefined;
  }

  private async ask<Name extends OperationName>(
    name: Name,
    request: RequestOf<Name>,
    { mount, path, long }: { mount: HangableMount; path: string; long: boolean },
    signal: AbortSignal | undefined,
  ): Promise<ResultOf<Name>> {
    if (this.closed) throw new VolumeHelperError("the kubelet stops");
    const id = ++this.lastId;
    const answered = new Promise<HelperAnswer>((resolve, reject) => {
      this.pending.set(id, { mount, path, request: { name, request }, resolve, reject });
    });
    this.schedule.submit({ id, mount: mount.device, long });
    this.advance();
    try {
      const answer = await (signal === undefined ? answered : unlessAborted(answered, signal));
      if ("error" in answer) throw asError(answer.error);
      return answer.result;
    } catch (error) {
      this.schedule.withdraw(id);
      if (this.pending.get(id)?.helper === undefined) this.pending.delete(id);
      throw error;
    }
  }

  private advance(): void {
    if (this.closed) return;
    const { clock } = this.deps;
    for (const step of this.schedule.next(clock.monotonic())) this.carryOut(step);
    this.timer?.cancel();
    const now = clock.monotonic();
    const wakeAt = this.schedule.wakeAt(now);
    this.timer = wakeAt === undefined ? undefined : clock.after(Math.max(1, wakeAt - now), () => this.advance());
  }

  private carryOut(step: Step): void {
    const call = this.pending.get(step.id);
    if (call === undefined) return;
    if (step.do === "start") {
      const worker = this.freeWorker();
      worker.id = step.id;
      call.helper = worker;
      worker.helper.ask(call.request);
      return;
    }
    this.pending.delete(step.id);
    const { clock } = this.deps;
    const since = later(clock.now(), step.since - clock.monotonic());
    if (step.do === "give up") {
      this.report(call, since);
      if (call.helper !== undefined) this.end(call.helper);
    }
    call.reject(new VolumeNotAnsweringError(call.mount, since, call.path));
  }

  private freeWorker(): Worker {
    for (const worker of this.workers) {
      if (worker.id !== undefined || worker.killed) continue;
      worker.idle?.cancel();
      worker.idle = undefined;
      return worker;
    }
    const worker: Worker = {
      id: undefined,
      idle: undefined,
      killed: false,
      helper: this.deps.startHelper({
        answer: (answer) => this.onAnswer(worker, answer),
        gone: (why) => this.onGone(worker, why),
      }),
    };
    this.workers.add(worker);
    return worker;
  }

  private onAnswer(worker: Worker, answer: HelperAnswer): void {
    const { id } = worker;
    if (id === undefined || worker.killed) return;
    worker.id = undefined;
    worker.idle = this.deps.clock.after(IDLE_MS, () => this.end(worker)).unref();
    this.finishCall(id, (call) => call.resolve(answer));
  }

  private onGone(worker: Worker, why: string): void {
    const { id } = worker;
    worker.idle?.cancel();
    this.workers.delete(worker);
    if (id === undefined || this.closed) return;
    if (!worker.killed) {
      this.finishCall(id, (call) =>
        call.reject(new VolumeHelperError(`the helper process for ${call.path} exited before it replied: ${why}`)),
      );
      return;
    }
    this.schedule.ended(id);
    this.advance();
  }

  private finishCall(id: number, finish: (call: Pending) => void): void {
    const call = this.pending.get(id);
    this.pending.delete(id);
    this.schedule.answered(id);
    if (call !== undefined) {
      finish(call);
      this.reportBack(call.mount);
    }
    this.advance();
  }

  private end(worker: Worker): void {
    worker.idle?.cancel();
    worker.killed = true;
    worker.helper.kill();
  }

  private report({ mount, path }: Pending, since: WallTime): void {
    if (this.reported.has(mount.device)) return;
    this.reported.set(mount.device, { mount, since });
    const error = new VolumeNotAnsweringError(mount, since, path);
    this.deps.log.warn({ mountPoint: mount.mountPoint, source: mount.source, path }, error.message);
  }

  private reportBack({ device }: HangableMount): void {
    const mount = this.reported.get(device)?.mount;
    if (mount === undefined) return;
    this.reported.delete(device);
    this.deps.log.info({ mountPoint: mount.mountPoint }, `${mount.source} at ${mount.mountPoint} responds again`);
  }
}

function asError({ message, code, subPath }: HelperError): Error {
  if (subPath !== undefined) return new SubPathError(subPath.path, subPath.problem);
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}
