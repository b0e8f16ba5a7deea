// Checkpoints of sandboxes: the facts that docker's labels cannot carry, one file per sandbox. The form is that of
// Kubernetes 1.23 with members of our own. A sandbox whose container was removed behind our back keeps its network
// until its checkpoint is removed, too.
// Invariant: a checkpoint is written before the sandbox's network and removed after it. A damaged one counts as none.

import { readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import type { PodSandboxMetadata } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { readText } from "../read-text.js";

export interface CheckpointPort {
  protocol: "tcp" | "udp" | "sctp";
  container_port: number;
  host_port: number;
  host_ip: string;
}

export interface Checkpoint {
  version: "v1";
  name: string;
  namespace: string;
  uid: string;
  attempt: number;
  createdAtNanos: string;
  data: {
    host_network: boolean;
    port_mappings: CheckpointPort[];
    /** Addresses of the pod, first the primary one; empty before the network is up. */
    ips: string[];
    /** The network was taken down. */
    network_removed: boolean;
  };
}

const MAX_BYTES = 256 * 1024;
const ID = /^[0-9a-f]{64}$/;

export class Checkpoints {
  private readonly dir: string;

  constructor(
    rootDir: string,
    private readonly log: Logger,
  ) {
    this.dir = join(rootDir, "sandbox");
  }

  async write(sandboxId: string, checkpoint: Checkpoint): Promise<void> {
    await atomicWrite(join(this.dir, sandboxId), JSON.stringify(checkpoint), { durable: false });
  }

  /** undefined: there is none, or it is damaged. */
  async read(sandboxId: string): Promise<Checkpoint | undefined> {
    if (!ID.test(sandboxId)) return undefined;
    try {
      const found: unknown = JSON.parse(await readText(join(this.dir, sandboxId), MAX_BYTES));
      if (isCheckpoint(found)) return found;
      this.log.warn(`the checkpoint ${join(this.dir, sandboxId)} has an unknown form; it is ignored`);
    } catch (error) {
      if (errorCode(error) !== "ENOENT")
        this.log.warn({ err: error }, `the checkpoint ${join(this.dir, sandboxId)} cannot be read`);
    }
    return undefined;
  }

  async remove(sandboxId: string): Promise<void> {
    if (!ID.test(sandboxId)) return;
    await unlink(join(this.dir, sandboxId)).catch((error: unknown) => {
      if (errorCode(error) !== "ENOENT") throw error;
    });
  }

  /** The sandboxes that have one. */
  async ids(): Promise<string[]> {
    try {
      return (await readdir(this.dir)).filter((name) => ID.test(name));
    } catch (error) {
      if (errorCode(error) === "ENOENT") return [];
      throw error;
    }
  }
}

function isCheckpoint(found: unknown): found is Checkpoint {
  const { version, name, namespace, uid, attempt, data, createdAtNanos } = { ...(found as Partial<Checkpoint>) };
  return (
    version === "v1" &&
    [name, namespace, uid].every((text) => typeof text === "string") &&
    typeof attempt === "number" &&
    /^\d{1,20}$/.test(createdAtNanos ?? "") &&
    Array.isArray(data?.port_mappings) &&
    Array.isArray(data.ips)
  );
}

export function metadataOf({ name, namespace, uid, attempt }: Checkpoint): PodSandboxMetadata {
  return { name, namespace, uid, attempt };
}
