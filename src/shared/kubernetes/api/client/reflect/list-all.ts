// A whole list, page by page.

import { omitUndefined } from "../../../../base/objects/omit-undefined.js";
import { isGone } from "../errors.js";
import type { ApiClient, ApiObject, ListOptions, ResourceKind } from "../port.js";

const PAGE = 500;
/** Deadline of each page: a large cluster's list may come slowly. */
const TIMEOUT_MS = 120_000;

export interface Listed<T> {
  objects: T[];
  resourceVersion: string;
}

/**
 * @param options with resourceVersion "" (most recent), "0" (from the server's cache), or a version: not older than it
 */
export async function listAll<T extends ApiObject>(
  client: ApiClient,
  kind: ResourceKind<T>,
  options: ListOptions<T> & { resourceVersion: string },
): Promise<Listed<T>> {
  const { resourceVersion, ...selection } = options;
  // With a version, a limit would mean exactly that version.
  const isPaged = resourceVersion === "" || resourceVersion === "0";
  const whole = { ...selection, timeoutMs: TIMEOUT_MS };
  const objects: T[] = [];
  const first = await client.list(
    kind,
    omitUndefined({ ...whole, resourceVersion, limit: isPaged ? PAGE : undefined }),
  );
  for (let page = first; ;) {
    for (const object of page.items) objects.push(object);
    const { resourceVersion: version = "", continue: next = "" } = page.metadata;
    if (next === "") return { objects, resourceVersion: version };
    try {
      page = await client.list(kind, { ...whole, limit: PAGE, continue: next });
    } catch (error) {
      if (!isGone(error)) throw error;
      // The pages took longer than the server keeps a version: all at once, not older than the first page.
      const { metadata, items } = await client.list(kind, {
        ...whole,
        resourceVersion: first.metadata.resourceVersion ?? "",
      });
      return { objects: items, resourceVersion: metadata.resourceVersion ?? "" };
    }
  }
}
