// Disk usage of writable layers, by blocks, as other runtimes count it. The Engine instead adds up the lengths of files
// without directories. It reads all files of a layer for each list. `du` measures the layers together, without
// following links.
// Invariant: one measurement at a time, in a process with a deadline; measurements take at most a fiftieth of the time.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { ProgramFailedError } from "../../../shared/io/exec/program-errors.js";
import { runProgram } from "../../../shared/io/exec/run-program.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { someAtOnce } from "./samples.js";

const LIFE_MS = 10_000;
/** As a part of the time that a measurement takes. */
const REST = 50;
const DEADLINE_MS = 30_000;
/** Directories of one process: its arguments are limited. */
const AT_ONCE = 200;

export interface LayerSizesDeps {
  clock: Pick<Clock, "monotonic" | "after">;
  log: Pick<Logger, "warn">;
  /**
   * Directory of the container's writable layer; undefined: its storage driver has none, or the container was removed.
   */
  directoryOf: (id: string, signal: AbortSignal) => Promise<string | undefined>;
}

interface Layer {
  directory: string;
  bytes: number | undefined;
  tried: boolean;
}

export class LayerSizes {
  private readonly layers = new Map<string, Layer>();
  private measuredAt = -Infinity;
  private life = 0;
  private measuring: Promise<void> | undefined;
  private failed = false;

  constructor(private readonly deps: LayerSizesDeps) {}

  /** Bytes by container; one that could not be measured is left out. Never rejects for a failed measurement. */
  async of(ids: readonly string[], signal: AbortSignal): Promise<Map<string, number>> {
    const unknown = ids.filter((id) => !this.layers.has(id));
    await someAtOnce(unknown, async (id) => {
      const directory = await this.deps.directoryOf(id, signal);
      if (directory !== undefined) this.layers.set(id, { directory, bytes: undefined, tried: false });
      return undefined;
    });
    const fresh = this.deps.clock.monotonic() - this.measuredAt < this.life;
    const missing = ids.some((id) => this.layers.get(id)?.tried === false);
    if (!fresh || missing) await (this.measuring ??= this.measure(fresh).finally(() => (this.measuring = undefined)));
    return new Map(
      ids.flatMap((id) => {
        const bytes = this.layers.get(id)?.bytes;
        return bytes === undefined ? [] : [[id, bytes] as const];
      }),
    );
  }

  /** Forgets all others. */
  retain(ids: ReadonlySet<string>): void {
    for (const id of this.layers.keys()) if (!ids.has(id)) this.layers.delete(id);
  }

  /** @param onlyNew the others were measured a short time ago */
  private async measure(onlyNew: boolean): Promise<void> {
    const { clock } = this.deps;
    const began = clock.monotonic();
    const wanted = [...this.layers.values()].filter(({ tried }) => !onlyNew || !tried);
    const directories = wanted.map(({ directory }) => directory);
    const found = new Map<string, number>();
    for (let at = 0; at < directories.length; at += AT_ONCE) {
      for (const [path, bytes] of await this.du(directories.slice(at, at + AT_ONCE))) found.set(path, bytes);
    }
    for (const layer of wanted) {
      layer.tried = true;
      // One that was removed, or a deadline: the last size that is known.
      layer.bytes = found.get(layer.directory) ?? layer.bytes;
    }
    const took = clock.monotonic() - began;
    if (onlyNew) return;
    this.measuredAt = clock.monotonic();
    this.life = Math.max(LIFE_MS, took * REST);
  }

  private async du(directories: readonly string[]): Promise<Map<string, number>> {
    const { clock, log } = this.deps;
    try {
      const args = ["-s", "-x", "-k", "--", ...directories];
      const env = [{ name: "LC_ALL", value: "C" }];
      const output = await runProgram({ command: "du", args, env, clock, deadlineMs: DEADLINE_MS });
      this.failed = false;
      return parse(output);
    } catch (error) {
      // Files that are removed meanwhile make it fail: the sums of the others are there nevertheless.
      if (error instanceof ProgramFailedError && error.failure === "ended") return parse(error.stdout);
      if (!this.failed)
        log.warn(`the size of writable layers is not known, and the Engine's is used: ${messageOf(error)}`);
      this.failed = true;
      return new Map();
    }
  }
}

/** Pure: lines "KiB<tab>path". */
function parse(output: string): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const line of output.split("\n")) {
    const match = /^(\d+)\t(\/.*)$/.exec(line);
    if (match !== null) sizes.set(match[2] ?? "", Number(match[1]) * 1024);
  }
  return sizes;
}
