// The users of the readers' file, read again when it changes. Without a file no user is a reader.

import type { Clock } from "../../shared/base/clock/clock.js";
import { errorCode } from "../../shared/base/errors/error-code.js";
import { readerNames } from "../../shared/contracts/apiserver.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import { WatchedFiles } from "../server/ports/tls/watched-files.js";

export class Readers {
  readonly #files: WatchedFiles;
  #names = new Set<string>();

  constructor(path: string, clock: Clock, log: Pick<Logger, "warn">) {
    this.#files = new WatchedFiles({
      paths: [path],
      clock,
      onContents: ([text = ""]) => (this.#names = new Set(readerNames(text))),
      onProblem: (err) => {
        // What cannot be read grants nothing.
        this.#names = new Set();
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
}
