// The CSIDriver object of a driver. It is read when a volume is set up, and kept for some seconds. So a burst of pods
// causes one request.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { isNotFound } from "../../../shared/kubernetes/api/client/errors.js";
import { CSI_DRIVERS } from "../../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../../shared/kubernetes/api/client/port.js";
import type { CSIDriver } from "../../../shared/kubernetes/api/objects.js";

const KEPT_MS = 10_000;

export type DriverSpec = CSIDriver["spec"];

export class DriverObjects {
  private readonly kept = new Map<string, { at: number; spec: Promise<DriverSpec | undefined> }>();

  constructor(
    private readonly client: () => ApiClient,
    private readonly clock: Clock,
  ) {}

  /** undefined: the cluster has no such object, and the driver the defaults. @throws ApiError, ApiConnectionError */
  get(driver: string): Promise<DriverSpec | undefined> {
    const now = this.clock.monotonic();
    const known = this.kept.get(driver);
    if (known !== undefined && now - known.at < KEPT_MS) return known.spec;
    const entry = { at: now, spec: this.read(driver) };
    this.kept.set(driver, entry);
    entry.spec.then(
      (spec) => {
        // One that is missing may be made any moment.
        if (spec === undefined) this.forget(driver, entry);
      },
      () => this.forget(driver, entry),
    );
    return entry.spec;
  }

  private forget(driver: string, entry: object): void {
    if (this.kept.get(driver) === entry) this.kept.delete(driver);
  }

  private async read(driver: string): Promise<DriverSpec | undefined> {
    try {
      // No caller's signal: the result is for all concurrent callers; the client has a deadline.
      return (await this.client().get(CSI_DRIVERS, { name: driver })).spec;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}
