// The CSI drivers that have registered on this node. Volume operations wait here for a moment for a driver that is
// about to register. After a restart of the kubelet drivers register while pods already wait for their volumes.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { abortReason } from "../../../shared/base/errors/thrown.js";
import { VolumeError } from "../volume-error.js";
import type { CsiNode } from "./node-port.js";

const PATIENCE_MS = 1_000;

export interface RegisteredDriver {
  name: string;
  endpoint: string;
  /** "1.5.0": the highest that the driver offered. */
  version: string;
  node: CsiNode;
}

export class CsiDrivers {
  private readonly drivers = new Map<string, RegisteredDriver>();
  private readonly waiting = new Set<() => void>();

  constructor(
    private readonly clock: Clock,
    private readonly patienceMs = PATIENCE_MS,
  ) {}

  add(driver: RegisteredDriver): void {
    const before = this.drivers.get(driver.name);
    if (before !== undefined && before.node !== driver.node) before.node.close();
    this.drivers.set(driver.name, driver);
    for (const wake of [...this.waiting]) wake();
  }

  /** Only the driver of that very endpoint: another may have taken the name over. False when it is not there. */
  remove(name: string, endpoint: string): boolean {
    const driver = this.drivers.get(name);
    if (driver?.endpoint !== endpoint) return false;
    this.drivers.delete(name);
    driver.node.close();
    return true;
  }

  find(name: string): RegisteredDriver | undefined {
    return this.drivers.get(name);
  }

  all(): RegisteredDriver[] {
    return [...this.drivers.values()];
  }

  /** Waits a moment for one that is not there. @throws VolumeError, or the signal's reason */
  async get(name: string, signal: AbortSignal): Promise<RegisteredDriver> {
    signal.throwIfAborted();
    const known = this.drivers.get(name);
    if (known !== undefined) return known;
    return new Promise((resolve, reject) => {
      const done = (settle: () => void): void => {
        timer.cancel();
        this.waiting.delete(look);
        signal.removeEventListener("abort", onAbort);
        settle();
      };
      const look = (): void => {
        const driver = this.drivers.get(name);
        if (driver !== undefined) done(() => resolve(driver));
      };
      const onAbort = (): void => done(() => reject(abortReason(signal)));
      const timer = this.clock.after(this.patienceMs, () =>
        done(() =>
          reject(
            new VolumeError(
              `driver name ${name} not found in the list of registered CSI drivers; its node plugin must run on this node ` +
                "and register below plugins_registry",
            ),
          ),
        ),
      );
      this.waiting.add(look);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  close(): void {
    for (const { node } of this.drivers.values()) node.close();
    this.drivers.clear();
  }
}
