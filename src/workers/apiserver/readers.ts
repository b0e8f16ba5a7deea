// The users of the readers' file, read again when it changes. Without a file no user is a reader.

import type { Clock } from "../../shared/base/clock/clock.js";
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
  /** Makes the kubeconfigs of readers who have none, and removes those of readers who are gone. */
  update: (names: string[], gone: string[]) => Promise<void>;
}

export class Readers {
  readonly #files: WatchedFiles;
  #names = new Set<string>();
  /** One change after the other: a kubeconfig that one makes, the next may remove. */
  #told: Promise<void> = Promise.resolve();

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
    this.#files.close();
  }

  #set(names: string[]): void {
    const gone = [...this.#names].filter((name) => !names.includes(name));
    this.#names = new Set(names);
    const { log, path, onChange, update } = this.options;
    onChange();
    this.#told = this.#told
      .then(() => update(names, gone))
      .catch((err: unknown) => log.warn({ err, path }, `readers have no kubeconfig: ${errorText(err)}`));
  }
}
