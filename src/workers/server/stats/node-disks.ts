// Size and usage of the node's file systems, for the nodelet command and the status page. Created with the first
// request.
// Invariant: one call per path is pending, and requests share it; a helper process makes it where the path leads over a
// mount that may hang (docs/adr/0042). Requests thus never occupy more of libuv's pool than one thread per path.

import { Scope } from "../../../shared/base/abort/scope.js";
import { unlessAborted } from "../../../shared/base/abort/unless-aborted.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { startHelperProcess } from "../../../shared/node/volume-calls/helper.js";
import type { FileSystemFacts } from "../../../shared/node/volume-calls/operations.js";
import { VolumeCalls } from "../../../shared/node/volume-calls/volume-calls.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";

/** A local disk replies in milliseconds, or hangs. */
const DEADLINE_MS = 1000;

export class NodeDisks {
  private readonly pending = new Map<string, Promise<FileSystemFacts>>();

  constructor(
    private readonly calls: Pick<VolumeCalls, "call" | "close">,
    private readonly clock: Pick<Clock, "after">,
  ) {}

  static open(clock: Clock, log: Logger): NodeDisks {
    return new NodeDisks(new VolumeCalls({ clock, log, startHelper: startHelperProcess }), clock);
  }

  /** Rejects as statfs(2) does, or after {@link DEADLINE_MS}. */
  async facts(path: string): Promise<FileSystemFacts> {
    const message = `the file system of ${path} does not respond within ${DEADLINE_MS / 1000} s`;
    using limit = new Scope(undefined).limit(this.clock, DEADLINE_MS, () => new Error(message));
    return await unlessAborted(this.ask(path), limit.signal);
  }

  close(): void {
    this.calls.close();
  }

  private ask(path: string): Promise<FileSystemFacts> {
    const known = this.pending.get(path);
    if (known !== undefined) return known;
    const asked = this.calls.call("statfs", { path }, { paths: [path] }).finally(() => this.pending.delete(path));
    this.pending.set(path, asked);
    return asked;
  }
}
