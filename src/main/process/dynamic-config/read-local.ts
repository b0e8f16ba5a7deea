// Reads the config file and the drop-ins (*.conf below the folder, recursively, in lexical order folder by folder, as
// upstream walks them) without blocking the thread. Bounded: a device, a pipe or a huge file is refused, not read.
// Folders named ..something hold the generations of a mounted ConfigMap, whose files show again as links beside them.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { readRegularFile } from "../../../shared/io/fs/regular-file.js";
import { FileTooLargeError, NotRegularFileError } from "../../../shared/io/fs/untrusted-file.js";
import type { ConfigFiles, ConfigText } from "./config-files.js";
import { SourceReadError } from "./errors.js";

export interface LocalPaths {
  /** Absolute path of the file that --config names. */
  readonly config?: string | undefined;
  /** Absolute path of the folder that --config-dir names. */
  readonly dropIns?: string | undefined;
}

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_DROP_INS = 1000;

/** Rejects with SourceReadError. */
export async function readLocal(paths: LocalPaths): Promise<ConfigFiles> {
  const config = paths.config === undefined ? undefined : await readText(paths.config);
  return omitUndefined({ config, dropIns: await readDropIns(paths) });
}

/** In merge order. Rejects with SourceReadError. */
export async function readDropIns(paths: LocalPaths): Promise<ConfigText[]> {
  const names = paths.dropIns === undefined ? [] : (await listDropIns(paths.dropIns)).files;
  const dropIns: ConfigText[] = [];
  for (const name of names) dropIns.push(await readText(name));
  return dropIns;
}

/** The drop-ins in merge order, and every folder that was looked into. Rejects with SourceReadError. */
export async function listDropIns(folder: string): Promise<{ files: string[]; folders: string[] }> {
  const found = { files: [] as string[], folders: [folder] };
  const walk = async (at: string): Promise<void> => {
    const entries = await readdir(at, { withFileTypes: true }).catch((error: unknown) => {
      throw new SourceReadError(at, reasonOf(error), error);
    });
    for (const entry of entries.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))) {
      const path = join(at, entry.name);
      if (entry.isDirectory()) {
        if (entry.name.startsWith("..")) continue;
        found.folders.push(path);
        await walk(path);
      } else if (entry.name.endsWith(".conf")) found.files.push(path);
      if (found.files.length + found.folders.length > MAX_DROP_INS) {
        throw new SourceReadError(folder, `more than ${MAX_DROP_INS} drop-ins and folders`);
      }
    }
  };
  await walk(folder);
  return found;
}

async function readText(path: string): Promise<ConfigText> {
  try {
    const bytes = await readRegularFile(path, MAX_FILE_BYTES);
    return { path, text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (error) {
    throw new SourceReadError(path, reasonOf(error), error);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof NotRegularFileError) return "not a regular file";
  if (error instanceof FileTooLargeError) return `larger than ${MAX_FILE_BYTES} bytes`;
  const code = errorCode(error);
  if (code === "ENOENT") return "it does not exist";
  if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") return "it is not UTF-8";
  return code ?? String(error);
}
