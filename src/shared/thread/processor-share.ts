// How much of one processor a thread or the process has used since the last look. By time of the clock a thread that
// waits for the processor would be busy.

/** Processor time so far, ms. */
export type ProcessorTime = () => number;

/** Processor time of the whole process. */
export const processCpuMs: ProcessorTime = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

export class ProcessorShare {
  private usedMs: number;
  private at: number;

  /** @param now monotonic, ms */
  constructor(
    private readonly cpuMs: ProcessorTime,
    private readonly now: () => number,
  ) {
    this.usedMs = cpuMs();
    this.at = now();
  }

  /** Ratio since the last call, or since the start; 1 when no time has passed. */
  next(): number {
    const { usedMs, at } = this;
    this.usedMs = this.cpuMs();
    this.at = this.now();
    return this.at > at ? (this.usedMs - usedMs) / (this.at - at) : 1;
  }
}
