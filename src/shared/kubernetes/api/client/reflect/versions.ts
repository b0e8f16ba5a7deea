// Resource versions: those of one kind grow (comparable by their contract since Kubernetes 1.35).

import { isGone, isTooLargeVersion } from "../errors.js";

/** The server's history is not the one we know: its storage was set back. */
export class HistoryError extends Error {
  override readonly name = "HistoryError";
  constructor(known: string, received: string) {
    super(`the server sent resource version ${received} after ${known}: its storage was restored to an earlier state`);
  }
}

/** False where a version is no number. */
export function isOlder(version: string, than: string): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(than)) return false;
  return version.length === than.length ? version < than : version.length < than.length;
}

/** The known state is outdated: list again. */
export function isUnknownVersion(error: unknown): boolean {
  return error instanceof HistoryError || isGone(error) || isTooLargeVersion(error);
}
