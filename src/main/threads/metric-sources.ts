// The metrics of main and of its threads, for one scrape of the server.
// Invariant: a thread that does not answer in time delays the others by SOURCE_DEADLINE_MS at most; its last values stand in.
import type { Clock } from "../../shared/clock/clock.js";
import type { MetricSnapshot } from "../../shared/metrics/snapshot.js";

/** Shorter than the server's own deadline for all sources (2 s): one stuck thread must not make the whole page stale. */
export const SOURCE_DEADLINE_MS = 1500;

type Source = () => Promise<MetricSnapshot[]>;

export class MetricSources {
  private readonly sources: { collect: Source; last: MetricSnapshot[] }[] = [];

  constructor(private readonly clock: Pick<Clock, "after">) {}

  add(collect: Source): void {
    this.sources.push({ collect, last: [] });
  }

  /** Never rejects: a source that fails, or is late, contributes the values that it gave last. */
  async collect(): Promise<MetricSnapshot[]> {
    const parts = await Promise.all(this.sources.map((source) => this.valuesOf(source)));
    return parts.flat();
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
