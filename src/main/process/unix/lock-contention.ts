// Notices that another process wants the lock file: it opened it, deleted it or put another file in its place.
// The file itself is watched, not the path. While we hold it open, a deletion shows as a change of its link count
// (IN_ATTRIB); IN_DELETE_SELF would come only once the last descriptor is closed, which is ours.

import { type FileHandle, stat } from "fs/promises";
import { IN, Inotify, type InotifyEvent } from "../../../shared/io/os/inotify.js";

const OPENED = IN.OPEN | IN.Q_OVERFLOW;
const GONE = IN.DELETE_SELF | IN.UNMOUNT | IN.IGNORED;
const CHECK = IN.ATTRIB | IN.MOVE_SELF;

export interface ContentionWatch extends Disposable {
  /** Resolves with a description of the event. Never rejects; stays pending when disposed before. */
  readonly contended: Promise<string>;
}

/** Watches from now on; does not keep the process alive. @throws OsCallError */
export function watchContention(path: string, file: FileHandle): ContentionWatch {
  let report: (happened: string) => void = () => undefined;
  const contended = new Promise<string>((resolve) => {
    report = resolve;
  });
  let over = false;
  const end = (happened?: string): void => {
    if (over) return;
    over = true;
    inotify[Symbol.dispose]();
    if (happened !== undefined) report(happened);
  };
  const check = (): void => {
    isAt(path, file).then(
      (still) => {
        if (!still) end(`${path} was deleted or replaced by another process`);
      },
      // Released meanwhile, or no longer readable: then the kubelet cannot prove that it holds the lock.
      (error: unknown) => end(`${path} can no longer be watched: ${String(error)}`),
    );
  };
  const inotify = new Inotify({
    onEvents: (events) => {
      if (has(events, OPENED)) end(`${path} was opened by another process`);
      else if (has(events, GONE)) end(`${path} was deleted by another process`);
      else if (has(events, CHECK)) check();
    },
    onError: (error) => end(`${path} cannot be watched any more: ${String(error)}`),
  }).unref();
  try {
    inotify.watch(`/proc/self/fd/${file.fd}`, IN.OPEN | IN.DELETE_SELF | CHECK);
  } catch (error) {
    end();
    throw error;
  }
  return { contended, [Symbol.dispose]: () => end() };
}

/** Whether the path still leads to the open file. */
export async function isAt(path: string, file: FileHandle): Promise<boolean> {
  const ours = await file.stat();
  try {
    const there = await stat(path);
    return there.ino === ours.ino && there.dev === ours.dev;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

function has(events: readonly InotifyEvent[], bits: number): boolean {
  return events.some(({ mask }) => (mask & bits) !== 0);
}
