// The status of dynamic configuration in the shape of the Node's status.config: assigned, active, last known good,
// error. Also on disk, as meta/status.json.

import { messageOf } from "../../../shared/base/errors/thrown.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import type { ConfigMapReference } from "../../../shared/kubernetes/api/config-source.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";

export interface ConfigReference {
  /** SHA-256 of paths and texts; also the name of the checkpoint's folder. */
  readonly digest: string;
  /** RFC 3339: since when it has been that. */
  readonly since: string;
  /** Absent: the node's own files. */
  readonly configMap?: ConfigMapReference;
}

/** Member names as in Node.status.config; absent ones are not known (yet). */
export interface DynamicConfigStatus {
  readonly assigned?: ConfigReference;
  readonly active?: ConfigReference;
  readonly lastKnownGood?: ConfigReference;
  /** Present while the kubelet does not run the assigned configuration, or could not record it. */
  readonly error?: string;
}

/** Writes each new status; during a write only the newest status waits. */
export class StatusFile {
  private written = "";
  private next: string | undefined;
  private writing: Promise<void> | undefined;
  private failing = false;

  constructor(
    private readonly path: string,
    private readonly log: Logger,
  ) {}

  put(status: DynamicConfigStatus): void {
    this.next = `${JSON.stringify({ version: 1, ...status }, undefined, 2)}\n`;
    this.writing ??= this.writeAll().finally(() => {
      this.writing = undefined;
    });
  }

  /** Resolves when all statuses are written, or were given up. */
  async flush(): Promise<void> {
    await this.writing;
  }

  private async writeAll(): Promise<void> {
    for (let text = this.next; text !== undefined; text = this.next) {
      this.next = undefined;
      if (text === this.written) continue;
      try {
        await atomicWrite(this.path, text, { durable: false, mode: 0o644 });
        this.written = text;
        this.failing = false;
      } catch (error) {
        if (!this.failing) this.log.warn({ err: error }, `${this.path} is out of date: ${messageOf(error)}`);
        this.failing = true;
      }
    }
  }
}
