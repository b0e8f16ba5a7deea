// The users of the readers' file, read again when it changes. Without a file no user is a reader.

import type { Clock, Timer } from "../../shared/base/clock/clock.js";
import { errorCode } from "../../shared/base/errors/error-code.js";
import { readerNames } from "../../shared/contracts/apiserver.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import { WatchedFiles } from "../server/ports/tls/watched-files.js";

export interface ReadersOptions {
  path: string;
  clock: Clock;
  log: Pick<Logger, "warn">;
  /** The names are in force. */
  onChange: () => void;
  /** Makes the kubeconfigs of readers who have none, and removes those of all other readers. */
  update: (names: string[]) => Promise<void>;
}

/** After an update that failed, as on a full disk. */
const AGAIN_MS = 5000;

export class Readers {
  readonly #files: WatchedFiles;
  #names = new Set<string>();
  /** One change after the other: a kubeconfig that one makes, the next may remove. */
  #told: Promise<void> = Promise.resolve();
  #again: Timer | undefined;
  #isFailing = false;
  #isClosed = false;

  constructor(private readonly options: ReadersOptions) {
    const { path, clock, log } = options;
    this.#files = new WatchedFiles({
      paths: [path],
      optional: true,
      clock,
      onContents: ([text = ""]) => this.#set(readerNames(text)),
      onProblem: (err) => {
        // What cannot be read grants nothing.
        this.#set([]);
        if (errorCode(err) !== "ENOENT") log.warn({ err, path }, "the file of readers cannot be read: there are none");
      },
    });
  }

  readonly isReader = (name: string): boolean => this.#names.has(name);

  start(): Promise<void> {
    return this.#files.start();
  }

  close(): void {
    this.#isClosed = true;
    this.#again?.cancel();
    this.#files.close();
  }

  #set(names: string[]): void {
    this.#names = new Set(names);
    this.options.onChange();
    this.#update();
  }

  #update(): void {
    const { update } = this.options;
    this.#told = this.#told
      .then(() => update([...this.#names]))
      .then(() => void (this.#isFailing = false))
      .catch((err: unknown) => this.#failed(err));
  }

  #failed(err: unknown): void {
    const { log, path, clock } = this.options;
    if (!this.#isFailing) log.warn({ err, path }, `readers have no kubeconfig, or keep one: ${errorText(err)}`);
    this.#isFailing = true;
    this.#again?.cancel();
    if (!this.#isClosed) this.#again = clock.after(AGAIN_MS, () => this.#update()).unref();
  }
}
