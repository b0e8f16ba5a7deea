// Walks a tree in which containers may write meanwhile, depth first, a bounded number of entries at a time.
// Invariant: no link is followed, so nothing outside of the tree is reached: directories are opened component by
// component. The position of a walk is the path from the root to one directory, with a position in each directory. So
// memory and messages stay small for a tree of any width, and any thread may walk the next piece. Synchronous, as
// everything in a pool thread.

import { closeSync, constants, openSync } from "node:fs";
import { systemClock } from "../../shared/base/clock/clock.js";
import { errorCode } from "../../shared/base/errors/error-code.js";
import { entryAt, fillEntries, seekDirectory, type DirectoryEntry } from "../../shared/io/os/directory-stream.js";
import { inside, MOVED_ON } from "./below.js";
import { type PlaceLevel, decodePlace, placeBytes, encodePlace } from "./tree-place.js";

const ROOT = constants.O_RDONLY | constants.O_DIRECTORY;
const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Directories of the path that are held open; those above them are opened again when the walk comes back. */
const HELD = 32;
const BUFFER = 32 * 1024;
/** Maximum bytes of a place: directories below some ten thousand levels are not entered. */
export const LONGEST_PLACE = 256 * 1024;

export interface Visitor {
  /** Looks at an entry of an open directory; returns whether to enter it. */
  entry(directory: number, entry: DirectoryEntry): boolean;
  /** A directory below the root was opened; its entries follow. */
  enter?(directory: number): void;
}

export interface WalkBounds {
  /** So many entries. */
  most: number;
  /** To be over by then; monotonic. */
  until: number;
}

/** Entries between two readings of the clock. */
const BETWEEN_LOOKS = 16;

interface Level extends PlaceLevel {
  fd: number | undefined;
  /** Entries that were read ahead and not visited. */
  at: number;
  filled: number;
}

export class TreeWalk {
  private readonly levels: Level[];
  /** One per level that is held open. */
  private readonly buffers: Buffer[] = [];
  private placeBytes: number;

  /**
   * @param place Where the last piece ended; absent: the beginning.
   * @param skipped Codes of errors for which a directory is left out, besides those of a removed one.
   */
  constructor(
    private readonly root: string,
    place: Uint8Array | undefined,
    private readonly skipped: ReadonlySet<string> = new Set(),
  ) {
    const levels = place === undefined ? [{ name: "", position: 0n, done: false }] : decodePlace(place);
    this.levels = levels.map((level) => ({ ...level, fd: undefined, at: 0, filled: 0 }));
    this.placeBytes = place?.byteLength ?? placeBytes("");
  }

  /** The directory that the walk is in, for messages. */
  get path(): string {
    const below = this.levels.slice(1).map(({ name }) => `/${Buffer.from(name, "latin1").toString()}`);
    return this.root + below.join("");
  }

  /** The position of the walk; undefined at its end. */
  get place(): Uint8Array | undefined {
    return this.levels.length === 0 ? undefined : encodePlace(this.levels);
  }

  /**
   * Visits entries within the bounds and returns their number. Throws the visitor's errors. Closes the walk afterwards.
   */
  run(visitor: Visitor, { most, until }: WalkBounds): number {
    let seen = 0;
    try {
      // The first entry is always visited, so that each piece makes progress.
      while (seen < most && (seen % BETWEEN_LOOKS !== 1 || systemClock.monotonic() < until)) {
        const level = this.levels.at(-1);
        if (level === undefined) break;
        const entry = this.next(level);
        if (entry === undefined) {
          this.leave();
          continue;
        }
        seen++;
        const directory = level.fd;
        if (directory !== undefined && visitor.entry(directory, entry)) this.enter(directory, entry.name, visitor);
      }
      return seen;
    } finally {
      for (const level of this.levels) close(level);
    }
  }

  /** The next entry of the last level; undefined at its end, or when the directory was removed. */
  private next(level: Level): DirectoryEntry | undefined {
    for (;;) {
      if (level.at >= level.filled && !this.fill(level)) return undefined;
      const { entry, end } = entryAt(this.buffer(this.levels.length - 1), level.at);
      level.at = end;
      level.position = entry.next;
      if (entry.name !== "." && entry.name !== "..") return entry;
    }
  }

  /** Reads on in the last level; false at its end. Once there, it is not opened again. */
  private fill(level: Level): boolean {
    if (level.done) return false;
    const filled = this.tolerant(() => {
      const fd = level.fd ?? this.open();
      // Opening may have shown that the directory is another one by now.
      return fd === undefined || level.done ? 0 : fillEntries(fd, this.buffer(this.levels.length - 1));
    });
    level.at = 0;
    level.filled = filled ?? 0;
    level.done = level.filled === 0;
    return !level.done;
  }

  private enter(directory: number, name: string, visitor: Visitor): void {
    const bytes = placeBytes(name);
    if (this.placeBytes + bytes > LONGEST_PLACE) return;
    const fd = this.tolerant(() => openSync(inside(directory, name), DIRECTORY));
    if (fd === undefined) return;
    // Checked now: a long chain of directories is not opened again on the way back.
    const above = this.levels.at(-1);
    if (above !== undefined && above.at >= above.filled) this.fill(above);
    this.levels.push({ name, position: 0n, done: false, fd, at: 0, filled: 0 });
    this.placeBytes += bytes;
    const far = this.levels.at(-1 - HELD);
    if (far !== undefined) close(far);
    visitor.enter?.(fd);
  }

  private leave(): void {
    const level = this.levels.pop();
    if (level === undefined) return;
    close(level);
    this.placeBytes -= placeBytes(level.name);
  }

  /** Opens the last level by the path to it, and holds those near it. Throws when a part of the path was removed. */
  private open(): number | undefined {
    const last = this.levels.length - 1;
    let passing: number | undefined;
    try {
      let above = -1;
      for (const [index, level] of this.levels.entries()) {
        const fd = index === 0 ? openSync(this.root, ROOT) : this.openIn(above, level.name, index);
        if (passing !== undefined) closeSync(passing);
        passing = undefined;
        if (index > last - HELD && level.fd === undefined) continueListing(level, fd);
        else passing = fd;
        above = fd;
      }
    } finally {
      if (passing !== undefined) closeSync(passing);
    }
    return this.levels[last]?.fd;
  }

  private openIn(above: number, name: string, index: number): number {
    try {
      return openSync(inside(above, name), DIRECTORY);
    } catch (error) {
      // With this directory all below it are gone.
      for (const gone of this.levels.slice(index)) gone.done = true;
      throw error;
    }
  }

  private buffer(index: number): Buffer {
    return (this.buffers[index % HELD] ??= Buffer.allocUnsafeSlow(BUFFER));
  }

  /** undefined if the entry was removed or is left out. */
  private tolerant<T>(step: () => T): T | undefined {
    try {
      return step();
    } catch (error) {
      const code = errorCode(error) ?? "";
      if (MOVED_ON.has(code) || this.skipped.has(code)) return undefined;
      throw error;
    }
  }
}

function continueListing(level: Level, fd: number): void {
  level.fd = fd;
  if (level.done) return;
  try {
    seekDirectory(fd, level.position);
  } catch (error) {
    // Another directory by now, in which that position is none.
    if (errorCode(error) !== "EINVAL") throw error;
    level.done = true;
  }
}

/** Drops entries that were read ahead: the position is that of the last visited entry. */
function close(level: Level): void {
  if (level.fd !== undefined) closeSync(level.fd);
  level.fd = undefined;
  level.at = 0;
  level.filled = 0;
}
