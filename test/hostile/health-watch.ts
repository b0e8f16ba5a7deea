// Asks /healthz on its own port and on the read-only port beside an attack, again and again: a liveness check must not
// fail because of unauthorised clients.

import { sleep } from "../../tools/standalone/wait.js";

const PERIOD_MS = 200;
/** The timeoutSeconds of a patient liveness check. */
const TIMEOUT_MS = 10_000;

export class HealthWatch {
  private isOver = false;
  private asked = 0;
  private slowestMs = 0;
  private readonly problems: string[] = [];
  private readonly ended: Promise<void>;

  constructor(private readonly urls: readonly string[]) {
    this.ended = this.watch();
  }

  /** Throws when a check failed. @returns what was asked, as text */
  async stop(): Promise<string> {
    this.isOver = true;
    await this.ended;
    const [problem] = this.problems;
    if (problem !== undefined)
      throw new Error(`/healthz failed ${this.problems.length} of ${this.asked} times: ${problem}`);
    return `${this.asked} health checks, the slowest ${Math.round(this.slowestMs)} ms`;
  }

  private async watch(): Promise<void> {
    while (!this.isOver) {
      const begun = performance.now();
      const url = this.urls[this.asked++ % this.urls.length] ?? "";
      try {
        const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
        const text = await response.text();
        if (response.status !== 200) this.problems.push(`${url}: ${response.status} ${text}`);
      } catch (error) {
        this.problems.push(`${url}: ${String(error)}`);
      }
      this.slowestMs = Math.max(this.slowestMs, performance.now() - begun);
      await sleep(PERIOD_MS);
    }
  }
}
