// The claims in use, in memory and in the checkpoint <root-dir>/dra_manager_state.
// Invariant: when save() resolves, the claims are on disk, synced; a driver is called only for claims that are. Nothing
// is written before the claims of the previous kubelet process are read.

import { join } from "node:path";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import { LatestWrite } from "../../../shared/io/fs/latest-write.js";
import { readState, removeLeftovers } from "../../../shared/io/fs/state-file.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { decodeClaims, encodeClaims } from "./checkpoint.js";
import { claimKey, type ClaimState } from "./claim-state.js";
import { DraError } from "./dra-error.js";

const STATE_FILE = "dra_manager_state";

export class ClaimStore {
  private readonly claims = new Map<string, ClaimState>();
  private readonly path: string;
  private readonly writes: LatestWrite;
  private loading: Promise<void> | undefined;
  private hasLoaded = false;

  constructor(
    rootDir: string,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.path = join(rootDir, STATE_FILE);
    this.writes = new LatestWrite({
      write: () => atomicWrite(this.path, encodeClaims(this.claims.values())),
      failed: (error) =>
        log.error(
          { err: error, path: this.path },
          `cannot write ${this.path}: ${errorText(error)}; no ResourceClaim is prepared`,
        ),
    });
  }

  /** The claims of the previous kubelet process are known. */
  get isLoaded(): boolean {
    return this.hasLoaded;
  }

  /**
   * Reads the file once; after an error the next call reads it again. A damaged file is set aside. Claims of running
   * pods are prepared again; those of earlier pods stay with their drivers.
   * @throws DraError
   */
  load(): Promise<void> {
    this.loading ??= this.read().catch((cause: unknown) => {
      this.loading = undefined;
      throw new DraError(`cannot read ${this.path}: ${errorText(cause)}`, { cause });
    });
    return this.loading;
  }

  get(namespace: string, name: string): ClaimState | undefined {
    return this.claims.get(claimKey(namespace, name));
  }

  all(): readonly ClaimState[] {
    return [...this.claims.values()];
  }

  of(podUid: PodUid): ClaimState[] {
    return this.all().filter(({ pods }) => pods.has(podUid));
  }

  add(claim: ClaimState): void {
    this.claims.set(claimKey(claim.namespace, claim.name), claim);
  }

  delete({ namespace, name }: ClaimState): void {
    this.claims.delete(claimKey(namespace, name));
  }

  /** @throws DraError */
  async save(): Promise<void> {
    try {
      await this.writes.written();
    } catch (cause) {
      throw new DraError(`cannot write ${this.path}: ${errorText(cause)}`, { cause });
    }
  }

  /** Resolves when nothing is being written. */
  settled(): Promise<void> {
    return this.writes.settled();
  }

  private async read(): Promise<void> {
    const { clock, log, path } = this;
    await removeLeftovers(path);
    const found = await readState(path, decodeClaims, { clock, log });
    for (const claim of found ?? []) this.claims.set(claimKey(claim.namespace, claim.name), claim);
    this.hasLoaded = true;
  }
}
