// Operations on files of a volume whose file system may never respond. An operation runs in this process if no such
// file system is on its path, else in a helper process. Requests and results are plain data.

import type { ChangeOwnershipJob, ChangeOwnershipResult } from "../../contracts/tasks.js";

/** Result of stat(2). */
export interface FileFacts {
  mode: number;
  uid: number;
  gid: number;
  dev: number;
  ino: number;
}

/** Result of statfs(2). */
export interface FileSystemFacts {
  bsize: number;
  blocks: number;
  bfree: number;
  bavail: number;
  files: number;
  ffree: number;
}

export interface BindSubPath {
  /** The volume's host path. */
  volumePath: string;
  /** Relative, without "..". */
  subPath: string;
  /** The runtime's path of the volume; its parent exists. */
  target: string;
  /** Something is mounted at `target` already. */
  mounted: boolean;
}

interface Operations {
  /** Follows links. */
  stat: { request: { path: string }; result: FileFacts };
  statfs: { request: { path: string }; result: FileSystemFacts };
  /** With its parents. */
  mkdir: { request: { path: string; mode: number }; result: undefined };
  /** An existing file stays unchanged. */
  touch: { request: { path: string; mode: number }; result: undefined };
  isEmpty: { request: { path: string }; result: boolean };
  /** Reads the last bytes of a regular file. @throws NotRegularFileError, without its type where a helper reads */
  readTail: { request: { path: string; maxBytes: number }; result: { bytes: Uint8Array; whole: boolean } };
  /** chown, then chmod: the former may clear setgid. */
  give: { request: { path: string; uid: number; gid: number; mode: number }; result: undefined };
  /** "other": something else is mounted at the target, which stays. @throws SubPathError */
  bindSubPath: { request: BindSubPath; result: "bound" | "other" };
  /** A part of a walk; only helper processes do it. */
  changeOwnership: { request: ChangeOwnershipJob; result: ChangeOwnershipResult };
}

export type OperationName = keyof Operations;
export type RequestOf<Name extends OperationName> = Operations[Name]["request"];
export type ResultOf<Name extends OperationName> = Operations[Name]["result"];

/** The operations that run in the thread's own process. */
export type LocalName = Exclude<OperationName, "changeOwnership">;
export type Performer<Names extends OperationName> = {
  [Name in Names]: (request: RequestOf<Name>) => Promise<ResultOf<Name>>;
};

/** To a helper process. It does one at a time. */
export interface HelperRequest {
  name: OperationName;
  request: RequestOf<OperationName>;
}

export type HelperAnswer = { result: ResultOf<OperationName> } | { error: HelperError };

export interface HelperError {
  message: string;
  /** The system's error code: "ENOENT". */
  code?: string | undefined;
  /** The sub path of a SubPathError, with its problem. */
  subPath?: { path: string; problem: string };
}
