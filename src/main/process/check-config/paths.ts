// Questions about a path. Nothing is written, and nothing but the file's state and content is read.

import { constants } from "node:fs";
import type { Stats } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { readRegularText } from "../../../shared/io/fs/regular-file.js";

/** Larger than any bundle of certificates; a wrong path may name a disk. */
const MOST_BYTES = 10 * 1024 * 1024;

/** The state of a file, or why there is none. */
export async function stateOf(path: string): Promise<Stats | string> {
  return await stat(path).catch((thrown: unknown) => reason(path, thrown));
}

/** The text of a regular file, or why it cannot be read. */
export async function textOf(path: string): Promise<{ text: string } | { problem: string }> {
  const state = await stateOf(path);
  if (typeof state === "string") return { problem: state };
  if (!state.isFile()) return { problem: `${path} is no file` };
  if (state.size > MOST_BYTES) return { problem: `${path} is larger than ${MOST_BYTES / 1024 / 1024} MiB` };
  return await readRegularText(path, MOST_BYTES).then(
    (text) => ({ text }),
    (thrown: unknown) => ({ problem: reason(path, thrown) }),
  );
}

/** undefined: a user with these rights may read the path. */
export async function readProblem(path: string): Promise<string | undefined> {
  return await accessProblem(path, constants.R_OK);
}

/** Why a folder cannot be made at the path, or used if it is there; undefined: nothing is known against it. */
export async function folderProblem(path: string): Promise<string | undefined> {
  for (let at = resolve(path); ; at = dirname(at)) {
    const state = await stateOf(at);
    if (typeof state === "string") {
      if (!state.endsWith(MISSING) || dirname(at) === at) return state;
    } else if (!state.isDirectory()) return `${at} is no folder`;
    else return undefined;
  }
}

const MISSING = " does not exist";

async function accessProblem(path: string, mode: number): Promise<string | undefined> {
  return await access(path, mode).then(
    () => undefined,
    (thrown: unknown) => reason(path, thrown),
  );
}

function reason(path: string, thrown: unknown): string {
  const code = errorCode(thrown);
  if (code === "ENOENT" || code === "ENOTDIR") return `${path}${MISSING}`;
  if (code === "EACCES" || code === "EPERM") return `this user may not read ${path}`;
  return messageOf(thrown);
}
