// State that is written whole at each change. One write runs at a time; the next write has all changes meanwhile.
// Invariant: when a wait ends, the state of the call's time is on disk, or its loss was reported.

export interface LatestWriteOptions {
  /** Writes the state at the time of the call. */
  write(): Promise<void>;
  /** The first failure after a success. */
  failed(error: unknown): void;
}

export class LatestWrite {
  private dirty = false;
  private failure: { error: unknown } | undefined;
  private writing: Promise<void> | undefined;

  constructor(private readonly options: LatestWriteOptions) {}

  /** Something changed. Resolves when it is written, or could not be; never rejects. */
  request(): Promise<void> {
    this.dirty = true;
    this.writing ??= this.run().finally(() => {
      this.writing = undefined;
    });
    return this.writing;
  }

  /** Requests a write and waits for it. Rejects with the error of the write. */
  async written(): Promise<void> {
    await this.request();
    if (this.failure !== undefined) throw this.failure.error;
  }

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    await this.writing;
  }

  private async run(): Promise<void> {
    while (this.dirty) {
      this.dirty = false;
      try {
        await this.options.write();
        this.failure = undefined;
      } catch (error) {
        if (this.failure === undefined) this.options.failed(error);
        this.failure = { error };
      }
    }
  }
}
