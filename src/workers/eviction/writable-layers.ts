// Sizes of the containers' writable layers, as reported by the runtime. gRPC is loaded with the first call: most nodes
// are never short of disk, and their pods have no limits.

import { Lifetime } from "../../shared/base/abort/lifetime.js";
import type { Clock } from "../../shared/base/clock/clock.js";
import type { ContainerStats } from "../../shared/kubernetes/cri/gen/runtime.v1.js";
import { type PodUid, podUid } from "../../shared/kubernetes/identifiers.js";
import type { LastingErrors } from "../../shared/telemetry/log/lasting-errors.js";
import type { Layers, Taken } from "./pod-storage.js";

/** The longest wait for the runtime; after it, the previous answer stays valid. */
const RUNTIME_WAIT_MS = 2000;
/** The runtime itself counts every ten seconds. */
const LIFE_MS = 2000;
const POD_UID = "io.kubernetes.pod.uid";

export interface LayersRuntime {
  listContainerStats(
    request: object,
    options: { deadlineMs: number; signal: AbortSignal },
  ): Promise<{ stats: ContainerStats[] }>;
  close(): void;
}

export interface WritableLayersDeps {
  connect: () => Promise<LayersRuntime>;
  clock: Pick<Clock, "monotonic">;
  errorLog: LastingErrors;
}

export class WritableLayers {
  private last: ReadonlyMap<PodUid, Layers> = new Map();
  private at = -Infinity;
  private runtime: Promise<LayersRuntime> | undefined;
  private asked: Promise<void> | undefined;
  private readonly lifetime = new Lifetime();

  constructor(private readonly deps: WritableLayersDeps) {}

  /** A pod that the runtime does not list is absent. Never rejects. */
  async now(): Promise<ReadonlyMap<PodUid, Layers>> {
    if (this.deps.clock.monotonic() - this.at >= LIFE_MS) {
      this.asked ??= this.ask().finally(() => {
        this.asked = undefined;
      });
      await this.asked;
    }
    return this.last;
  }

  /** The last result, however old. */
  get known(): ReadonlyMap<PodUid, Layers> {
    return this.last;
  }

  async close(): Promise<void> {
    this.lifetime.end();
    await this.asked;
    (await this.runtime?.catch(() => undefined))?.close();
  }

  private async ask(): Promise<void> {
    const { connect, clock, errorLog } = this.deps;
    const key = "writable layers";
    try {
      this.runtime ??= connect();
      const runtime = await this.runtime;
      const options = { deadlineMs: RUNTIME_WAIT_MS, signal: this.lifetime.signal };
      const { stats } = await runtime.listContainerStats({}, options);
      this.last = layersOf(stats);
      this.at = clock.monotonic();
      errorLog.resolved(key, "the runtime reports writable layers again");
    } catch (error) {
      if (this.lifetime.hasEnded) return;
      errorLog.report(key, "the runtime does not report writable layers; using the last values", error);
    }
  }
}

/** The newest run of a container that was restarted. @internal */
export function layersOf(stats: readonly ContainerStats[]): Map<PodUid, Layers> {
  const pods = new Map<PodUid, Map<string, Taken>>();
  const attempts = new Map<string, number>();
  for (const { attributes, writableLayer } of stats) {
    const uid = podUid(attributes?.labels[POD_UID] ?? "");
    const { name, attempt } = attributes?.metadata ?? { name: "", attempt: 0 };
    if (uid === "" || name === "" || writableLayer === undefined) continue;
    const key = `${uid}/${name}`;
    if ((attempts.get(key) ?? -1) >= attempt) continue;
    attempts.set(key, attempt);
    const layers = pods.get(uid) ?? new Map<string, Taken>();
    pods.set(uid, layers);
    layers.set(name, {
      bytes: Number(writableLayer.usedBytes?.value ?? 0n),
      inodes: Number(writableLayer.inodesUsed?.value ?? 0n),
    });
  }
  return pods;
}
