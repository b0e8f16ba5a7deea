// Bytes of all image layers, each counted once. The Engine computes them together with the usage of containers and
// volumes, for which it reads all files. So one answer serves for a while.
// Invariant: one such request at a time; an answer is at most LIFE_MS old, unless the Engine cannot give another.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { answered } from "../engine/answers.js";
import type { Engine } from "../engine/engine.js";

const LIFE_MS = 60_000;
const DEADLINE_MS = 30_000;

export interface LayerUsageDeps {
  engine: Engine;
  clock: Pick<Clock, "monotonic">;
  log: Pick<Logger, "warn">;
}

export class LayerUsage {
  private last: { at: number; bytes: bigint } | undefined;
  private asking: Promise<bigint | undefined> | undefined;

  constructor(private readonly deps: LayerUsageDeps) {}

  /** undefined: the Engine has never said. Never rejects. */
  async bytes(): Promise<bigint | undefined> {
    const { clock } = this.deps;
    if (this.last !== undefined && clock.monotonic() - this.last.at < LIFE_MS) return this.last.bytes;
    this.asking ??= this.ask().finally(() => (this.asking = undefined));
    return this.asking;
  }

  /** Its deadline is its own: several callers wait for it. */
  private async ask(): Promise<bigint | undefined> {
    const { engine, clock, log } = this.deps;
    try {
      const { signal } = new AbortController();
      const found = await engine.call(
        signal,
        (docker, abortSignal) => {
          // dockerode's types leave out the options.
          const ask = docker.df.bind(docker) as (options: object) => Promise<{ LayersSize: number }>;
          return ask({ abortSignal });
        },
        DEADLINE_MS,
      );
      this.last = { at: clock.monotonic(), bytes: BigInt(answered("diskUsage", found).LayersSize) };
    } catch (error) {
      log.warn(`the Docker Engine does not report the size of its image layers: ${messageOf(error)}`);
    }
    return this.last?.bytes;
  }
}
