// Reads a kubeconfig file.

import { messageOf } from "../../../../base/errors/thrown.js";
import { readRegularFile } from "../../../../io/fs/regular-file.js";
import { FileTooLargeError } from "../../../../io/fs/untrusted-file.js";
import type { ClientConfig } from "../config.js";
import { KubeconfigError } from "./errors.js";
import { readClientConfig, type Tolerated } from "./read.js";
import { KubeconfigDocument } from "./tree.js";

/** Far above the size of a kubeconfig with one cluster and one user; a larger file is a mistake. */
export const SIZE_LIMIT = 4 * 1024 * 1024;

/**
 * The cluster and user of the file's current context. `tolerated` gets mistakes with which client-go starts. Rejects
 * with KubeconfigError, or with what `tolerated` throws.
 */
export async function loadClientConfig(path: string, tolerated: Tolerated = () => undefined): Promise<ClientConfig> {
  const root = await KubeconfigDocument.parse(path, await readBytes(path));
  return readClientConfig({ file: path, root, tolerated });
}

async function readBytes(path: string): Promise<Uint8Array> {
  try {
    return await readRegularFile(path, SIZE_LIMIT);
  } catch (error) {
    const why =
      error instanceof FileTooLargeError
        ? `is larger than ${SIZE_LIMIT / 1024 / 1024} MiB`
        : `can't be read: ${messageOf(error)}`;
    throw new KubeconfigError(path, "", undefined, why, { cause: error });
  }
}
