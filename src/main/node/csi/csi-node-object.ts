// The CSINode object of this node: its drivers, the node's id in each, and the limits of volumes.
// Invariant: one change at a time; entries of others stay as they are; the node is not Ready before the object is
// there, since the scheduler counts volumes by it.

import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { Backoff } from "../../../shared/base/turns/backoff.js";
import { isAlreadyExists, isConflict, isNotFound } from "../../../shared/kubernetes/api/client/errors.js";
import { CSI_NODES, NODES } from "../../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../../shared/kubernetes/api/client/port.js";
import type { CSINode } from "../../../shared/kubernetes/api/objects.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { CsiNodeInfo } from "../../volumes/csi/node-port.js";
import { withDriver, withMigrated, withoutDriver } from "./csi-node-entries.js";

/** Number of retries after a conflict; upstream's value. */
const TRIES = 4;
const RETRY = { initialMs: 10, factor: 5, spread: [1, 1.1] } as const;
/** Making the object, until it is there. */
const MAKE_RETRY = { initialMs: 500, maxMs: 30_000 };

export interface CsiNodeObjectOptions {
  nodeName: string;
  client: ApiClient;
  clock: Clock;
  log: Logger;
  random?: () => number;
  /** The object is there now: the node may be Ready. */
  onReady?: () => void;
}

export class CsiNodeObject {
  private ready = false;
  private last: Promise<unknown> = Promise.resolve();
  private readonly lifetime = new Lifetime();
  private making: Promise<void> | undefined;

  constructor(private readonly options: CsiNodeObjectOptions) {}

  /** For the Ready condition: the problem, or undefined. */
  problem(): string | undefined {
    return this.ready ? undefined : "CSINode is not yet initialized";
  }

  /** Makes the object, in the background, for as long as it takes. */
  start(): void {
    this.making ??= this.makeUntilThere();
  }

  async stop(): Promise<void> {
    this.lifetime.end();
    await this.making;
    await this.last.catch(() => undefined);
  }

  /** @throws ApiError, ApiConnectionError */
  addDriver(name: string, info: CsiNodeInfo, signal: AbortSignal): Promise<void> {
    return this.change((object) => withDriver(object, name, info), signal);
  }

  /** @throws ApiError, ApiConnectionError */
  removeDriver(name: string, signal: AbortSignal): Promise<void> {
    return this.change((object) => withoutDriver(object, name), signal);
  }

  private async makeUntilThere(): Promise<void> {
    const { clock, log } = this.options;
    const { signal } = this.lifetime;
    const backoff = new Backoff(MAKE_RETRY);
    while (!isEnded(signal)) {
      try {
        await this.change((object) => object, signal);
        return;
      } catch (error) {
        if (isEnded(signal)) return;
        log.warn({ err: error }, "cannot create the CSINode object; trying again");
      }
      await clock.sleep(backoff.next(), signal).catch(() => undefined);
    }
  }

  /** In turn. */
  private change(edit: (object: CSINode) => CSINode, signal: AbortSignal): Promise<void> {
    const turn = this.last.then(() => this.changeNow(edit, signal));
    this.last = turn.catch(() => undefined);
    return turn;
  }

  private async changeNow(edit: (object: CSINode) => CSINode, signal: AbortSignal): Promise<void> {
    const { clock, random = Math.random } = this.options;
    const backoff = new Backoff({ ...RETRY, random });
    for (let tried = 1; ; tried++) {
      try {
        await this.changeOnce(edit, signal);
        if (!this.ready) {
          this.ready = true;
          this.options.onReady?.();
        }
        return;
      } catch (error) {
        if (tried >= TRIES || signal.aborted) throw error;
        // Another client changed the object first, or a transient error: try again.
        if (!isConflict(error) && !isAlreadyExists(error) && tried > 1) throw error;
      }
      await clock.sleep(backoff.next(), signal);
    }
  }

  private async changeOnce(edit: (object: CSINode) => CSINode, signal: AbortSignal): Promise<void> {
    const { client, nodeName: name } = this.options;
    const found = await client.get(CSI_NODES, { name }, { signal }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (found === undefined) {
      await client.create(CSI_NODES, withMigrated(edit(await this.blank(signal))), { signal });
      return;
    }
    const wanted = withMigrated(edit(found));
    if (wanted !== found) await client.update(CSI_NODES, wanted, { signal });
  }

  /** The CSINode object is deleted with its node. */
  private async blank(signal: AbortSignal): Promise<CSINode> {
    const { client, nodeName: name } = this.options;
    const node = await client.get(NODES, { name }, { signal });
    const owner = { apiVersion: "v1", kind: "Node", name, uid: node.metadata.uid ?? "" };
    return {
      apiVersion: "storage.k8s.io/v1",
      kind: "CSINode",
      metadata: { name, ownerReferences: [owner] },
      spec: { drivers: [] },
    };
  }
}

function isEnded(signal: AbortSignal): boolean {
  return signal.aborted;
}
