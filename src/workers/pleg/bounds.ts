// How much of a runtime's texts leaves this thread. They go to main, into the statuses of pods and of the Node, and
// from there to the API server, which takes no object of megabytes: one long text would stop every later status.

import { shortened } from "../../shared/base/text/shortened.js";

/** As a container's termination message may have. */
const MESSAGE_LIMIT = 4096;
/** Names of the runtime, its version, its handlers, and reasons. */
const NAME_LIMIT = 256;
/** As names in pods. */
const IMAGE_NAME_LIMIT = 4096;
/** Keys and values of the labels, or the annotations, of one object: twice what the API takes for a pod. */
const MAP_LIMIT = 512 * 1024;
/** A node has addresses of two families. */
const MOST_ADDRESSES = 16;
export const MOST_HANDLERS = 256;

export const messageText = (text: string): string => shortened(text, MESSAGE_LIMIT);
export const nameText = (text: string): string => shortened(text, NAME_LIMIT);
export const imageText = (text: string): string => shortened(text, IMAGE_NAME_LIMIT);

export function isImageName(text: string): boolean {
  return text.length <= IMAGE_NAME_LIMIT;
}

/** In key order. Entries that do not fit are left out: a part of a value would be another value. */
export function boundedMap(map: Readonly<Record<string, string>>): Record<string, string> {
  let left = MAP_LIMIT;
  const kept = Object.entries(map)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .filter(([key, value]) => {
      const size = key.length + value.length;
      if (size > left) return false;
      left -= size;
      return true;
    });
  return Object.fromEntries(kept);
}

export function boundedAddresses<T>(addresses: readonly T[]): T[] {
  return addresses.slice(0, MOST_ADDRESSES);
}
