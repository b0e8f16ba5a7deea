// The text of a Source. It is read again only after a change of its file: rename, changed symbolic link or write in
// place.

import { stat } from "node:fs/promises";
import { messageOf } from "../../../../base/errors/thrown.js";
import { readRegularFile } from "../../../../io/fs/regular-file.js";
import type { Source } from "../config.js";
import { CredentialError } from "./errors.js";

/** Six hundred certificate authorities; a context is made of them on the thread that asks. */
export const CREDENTIAL_LIMIT = 1024 * 1024;

export class SourceText {
  private text: string | undefined;
  private seen = "";

  constructor(
    private readonly source: Source,
    /** The content's name in messages: "client certificate". */
    private readonly what: string,
  ) {}

  /** Rejects with CredentialError. */
  async read(): Promise<string> {
    if ("data" in this.source) return this.source.data;
    const { file } = this.source;
    try {
      // The stamp is read first: a change between the two is detected next time.
      const { dev, ino, size, mtimeNs } = await stat(file, { bigint: true });
      const stamp = `${dev} ${ino} ${size} ${mtimeNs}`;
      if (this.text === undefined || stamp !== this.seen) {
        this.text = (await readRegularFile(file, CREDENTIAL_LIMIT)).toString("latin1");
        this.seen = stamp;
      }
      return this.text;
    } catch (error) {
      const why = messageOf(error);
      throw new CredentialError(`the ${this.what} ${file} can't be read: ${why}`, { cause: error });
    }
  }
}
