// The texts that -f names: files, folders, and "-" for standard input. A folder stands for its files *.yaml, *.yml and
// *.json; with -R for those of the folders below it, too. A path that cannot be read is a fault of its own and does not
// end the others.

import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import type { Readable } from "node:stream";
import { errorCode } from "../../shared/base/errors/error-code.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import { MANIFEST_BODY_LIMIT } from "../../shared/contracts/manifests.js";
import { CliError, EXIT } from "../errors.js";
import { requirePaths } from "./require-paths.js";

const EXTENSIONS = new Set([".yaml", ".yml", ".json"]);
/** In all folders; above any node's. */
const MOST_FILES = 10_000;
const DEPTH = 32;
const MIB = 1024 * 1024;

export interface ManifestText {
  /** As named on the command line; "standard input". */
  name: string;
  text: Uint8Array;
}

export interface UnreadableText {
  name: string;
  problem: string;
}

/** @throws CliError without a path, or for a path that no file can be */
export async function* manifestTexts(
  paths: readonly string[],
  recursive: boolean,
): AsyncGenerator<ManifestText | UnreadableText> {
  requirePaths(paths);
  if (paths.filter((path) => path === "-").length > 1) {
    throw new CliError(EXIT.usage, "standard input (-f -) can be read only once");
  }
  let files = 0;
  for (const path of paths) {
    for (const found of await filesOf(path, recursive)) {
      if ("problem" in found) yield found;
      else if (++files > MOST_FILES) throw new CliError(EXIT.usage, `more than ${MOST_FILES} files are named`);
      else yield await textOf(found.name);
    }
  }
}

type Found = { name: string } | UnreadableText;

async function filesOf(path: string, recursive: boolean): Promise<Found[]> {
  if (path === "-") return [{ name: path }];
  if (/^https?:\/\//.test(path)) {
    return [{ name: path, problem: `addresses are not read: send it with \`curl -sS ${path} | nodelet apply -f -\`` }];
  }
  try {
    if (!(await stat(path)).isDirectory()) return [{ name: path }];
    const found = await filesBelow(path, recursive ? DEPTH : 1);
    const hint = recursive ? "" : "; -R reads the folders below it, too";
    return found.length > 0 ? found : [{ name: path, problem: `it has no file *.yaml, *.yml or *.json${hint}` }];
  } catch (error) {
    return [{ name: path, problem: causeOf(error) }];
  }
}

/** By name, as kubectl has them. Links to folders are not followed: they may lead in a circle. */
async function filesBelow(folder: string, depth: number): Promise<Found[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const found: Found[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (depth > 1) found.push(...(await filesBelow(path, depth - 1)));
    } else if (EXTENSIONS.has(extname(entry.name))) found.push(await regular(path));
    if (found.length > MOST_FILES) break;
  }
  return found;
}

/**
 * A pipe or a device in a folder would be waited for; the kubelet passes over it, too. One that is named itself is
 * read.
 */
async function regular(path: string): Promise<Found> {
  try {
    return (await stat(path)).isFile() ? { name: path } : { name: path, problem: "it is no regular file" };
  } catch (error) {
    return { name: path, problem: causeOf(error) };
  }
}

async function textOf(path: string): Promise<ManifestText | UnreadableText> {
  const name = path === "-" ? "standard input" : path;
  try {
    const text = await bounded(path === "-" ? process.stdin : createReadStream(path));
    return text === undefined
      ? { name, problem: `it is larger than ${MANIFEST_BODY_LIMIT / MIB} MiB` }
      : { name, text };
  } catch (error) {
    return { name, problem: causeOf(error) };
  }
}

/** undefined: more than the manifest API takes. A pipe or device has no size to look at first. */
async function bounded(stream: Readable): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MANIFEST_BODY_LIMIT) return undefined;
    chunks.push(chunk);
  }
  return Uint8Array.from(Buffer.concat(chunks));
}

function causeOf(error: unknown): string {
  switch (errorCode(error)) {
    case "ENOENT":
      return "there is no such file or folder";
    case "EACCES":
      return "this user may not read it";
    case "ENOTDIR":
      return "a part of its path is no folder";
    default:
      return messageOf(error);
  }
}
