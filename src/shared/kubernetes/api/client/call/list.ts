// Parses a list response item by item as it arrives.

import type { WireResponse } from "../connection/wire.js";
import { ListCutter } from "../decode/list-cutter.js";
import { headOfJson } from "../decode/object-head.js";
import type { OnOversized } from "../decode/oversized.js";
import type { Turn } from "../decode/turn.js";
import type { ApiList, ObjectHead, Restore } from "../port.js";
import { BodyError, bodyOf, jsonOf } from "./body.js";

/** Limit for one response; longer lists come in pages. */
export const LIST_LIMIT = 256 * 1024 * 1024;

/** Rejects with BodyError when the body is no list: it may have been cut. */
export async function readList<T>(
  response: WireResponse,
  turn: Turn,
  onOversized?: OnOversized,
  transform: (item: T) => T = (item) => item,
  restore?: Restore<T>,
): Promise<ApiList<T>> {
  const restored: T[] = [];
  const cutter = new ListCutter((head) => {
    onOversized?.(head);
    addRestored(restored, headOfJson(head), restore);
  });
  let items: T[] = [];
  response.received = 0;
  for await (const block of await bodyOf(response)) {
    response.received += (block as Buffer).length;
    if (response.received > LIST_LIMIT) throw new BodyError(`the list is longer than ${LIST_LIMIT / 1024 / 1024} MiB`);
    for (const item of cutter.push(block as Buffer)) {
      items.push(transform(jsonOf(item, "an item of the list") as T));
      if (turn.isOver) await turn.next();
    }
    if (turn.isOver) await turn.next();
  }
  const what = `the response (status ${response.status})`;
  const shell = jsonOf(cutter.rest(), what) as Partial<ApiList<T>> | null;
  if (typeof shell?.metadata !== "object") throw new BodyError(`${what} is no list`);
  // Spelt in a way that the cutter does not know.
  if (Array.isArray(shell.items) && shell.items.length > 0) items = shell.items.map(transform);
  return { metadata: shell.metadata, items: items.concat(restored) };
}

/** An item that was skipped, if its owner knows it: it counts as listed. */
export function addRestored<T>(items: T[], head: ObjectHead | undefined, restore: Restore<T> | undefined): void {
  const item = head === undefined ? undefined : restore?.(head);
  if (item !== undefined) items.push(item);
}
