// Finds names in a hosts file of any size (lists of blocked names have tens of megabytes).
// Invariant: memory is one part of the file and the results; a file is read once for a name until it changes.

import { open, stat, type FileHandle } from "node:fs/promises";
import { isIP } from "node:net";

/** Results that are kept. */
const MOST_NAMES = 1000;
const PART_BYTES = 64 * 1024;
/** A longer line is read as several: names that are cut are not found. */
const LONGEST_LINE = 64 * 1024;

export interface HostsFile {
  /** In the order of the file; a name in lower case. */
  addressesOf(name: string): Promise<string[]>;
}

export class HostsSearch implements HostsFile {
  private version = "";
  private readonly known = new Map<string, Promise<string[]>>();

  constructor(private readonly path: string) {}

  async addressesOf(name: string): Promise<string[]> {
    const version = await versionOf(this.path);
    if (version !== this.version || this.known.size >= MOST_NAMES) this.known.clear();
    this.version = version;
    const known = this.known.get(name) ?? search(this.path, name);
    this.known.set(name, known);
    return known;
  }
}

/** "": there is no such file. */
async function versionOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined ? "" : `${found.mtimeMs} ${found.ctimeMs} ${found.size} ${found.ino}`;
}

/** A file that cannot be read has no names, as upstream's resolver takes it. */
async function search(path: string, name: string): Promise<string[]> {
  let file: FileHandle;
  try {
    file = await open(path);
  } catch {
    return [];
  }
  try {
    return await searchIn(file, name);
  } catch {
    return [];
  } finally {
    await file.close();
  }
}

async function searchIn(file: FileHandle, name: string): Promise<string[]> {
  const part = Buffer.allocUnsafeSlow(PART_BYTES);
  const found: string[] = [];
  let rest = "";
  for (;;) {
    const { bytesRead } = await file.read(part, 0, part.length);
    const text = rest + part.toString("latin1", 0, bytesRead);
    const end = bytesRead === 0 || text.length > LONGEST_LINE + PART_BYTES ? text.length : text.lastIndexOf("\n") + 1;
    const lines = text.slice(0, end);
    if (lines.toLowerCase().includes(name)) found.push(...addressesIn(lines, name));
    if (bytesRead === 0) return found;
    rest = text.slice(end);
  }
}

/** The addresses of a name in these lines, in their order. @internal */
export function addressesIn(lines: string, name: string): string[] {
  return lines.split("\n").flatMap((line) => {
    const [text = ""] = line.split("#", 1);
    const [address = "", ...names] = text.split(/[ \t\r]/).filter((part) => part !== "");
    return isIP(address) !== 0 && names.some((one) => one.toLowerCase() === name) ? [address] : [];
  });
}
