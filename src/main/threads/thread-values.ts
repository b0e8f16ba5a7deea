// Values that a thread gets with its init, and anew when they change. Invariant: a thread that runs has the newest of
// each, whenever it changed: a value that is set while the thread starts is sent once the thread takes calls.

import type { Logger } from "../../shared/telemetry/log/logger.js";

export interface ThreadValuesOptions<Values extends object> {
  first: Values;
  /** Sends one value to the running thread. */
  send: <Key extends keyof Values>(key: Key, value: Values[Key]) => Promise<void>;
  /** Name of a value in the log: "the … thread did not accept NAME". */
  names: Readonly<Record<keyof Values, string>>;
  thread: string;
  log: Pick<Logger, "warn">;
}

export class ThreadValues<Values extends object> {
  private values: Values;
  /** What the present thread has. */
  private given: Values;
  private isJoined = false;

  constructor(private readonly options: ThreadValuesOptions<Values>) {
    this.values = options.first;
    this.given = options.first;
  }

  /** The values for the init of a new thread. */
  forInit(): Values {
    this.given = this.values;
    return this.values;
  }

  /** A thread that does not accept the value gets it at its next start. */
  set<Key extends keyof Values>(key: Key, value: Values[Key]): void {
    this.values = { ...this.values, [key]: value };
    if (!this.isJoined) return;
    this.given = this.values;
    this.options.send(key, value).catch((error: unknown) => {
      const { thread, names, log } = this.options;
      log.warn({ err: error }, `the ${thread} thread did not accept ${names[key]}`);
    });
  }

  /** The thread takes calls now: it gets what has changed since its init. Rejects if it does not accept a value. */
  async join(): Promise<void> {
    for (let key = this.changed(); key !== undefined; key = this.changed()) {
      this.given = { ...this.given, [key]: this.values[key] };
      await this.options.send(key, this.values[key]);
    }
    this.isJoined = true;
  }

  private changed(): keyof Values | undefined {
    return (Object.keys(this.values) as (keyof Values)[]).find((key) => this.values[key] !== this.given[key]);
  }

  leave(): void {
    this.isJoined = false;
  }
}
