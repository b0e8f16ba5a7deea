// The metrics of main and of its threads, for one scrape of a server's thread.
// Invariant: a thread that does not respond in time delays the others by SOURCE_DEADLINE_MS at most; its last values
// stand in.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { MetricSnapshot } from "../../shared/telemetry/metrics/snapshot.js";

/**
 * Shorter than the server's own deadline for all sources (2 s): one stuck thread must not make the whole page stale.
 */
const SOURCE_DEADLINE_MS = 1500;

type Source = () => Promise<MetricSnapshot[]>;

export class MetricSources {
  private readonly sources: { thread: string; collect: Source; last: MetricSnapshot[] }[] = [];

  constructor(private readonly clock: Pick<Clock, "after">) {}

  add(thread: string, collect: Source): void {
    this.sources.push({ thread, collect, last: [] });
  }

  /**
   * All but the values of `asker`, which has its own. Never rejects: a source that fails, or is late, contributes the
   * values that it gave last.
   */
  async collect(asker: string): Promise<MetricSnapshot[]> {
    const others = this.sources.filter(({ thread }) => thread !== asker);
    const values = await Promise.all(others.map((source) => this.valuesOf(source)));
    return values.flat();
  }

  private valuesOf(source: { collect: Source; last: MetricSnapshot[] }): Promise<MetricSnapshot[]> {
    return new Promise((resolve) => {
      const deadline = this.clock.after(SOURCE_DEADLINE_MS, () => resolve(source.last));
      const answer = (values: MetricSnapshot[]): void => {
        source.last = values;
        deadline.cancel();
        resolve(values);
      };
      // The supervisor reports and restarts a thread that fails; the page shows its last values meanwhile.
      source.collect().then(answer, () => answer(source.last));
    });
  }
}
