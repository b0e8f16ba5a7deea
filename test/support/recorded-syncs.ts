// Paths of the files and folders that this process syncs, in their order.

import { readlinkSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import type { TestContext } from "node:test";

/** `onSync` gets each path before its sync. They are recorded until the test ends. */
export async function recordSyncs(test: TestContext, onSync: (path: string) => void): Promise<void> {
  const any = await open("/", "r");
  const handles = Object.getPrototypeOf(any) as { sync: () => Promise<void> };
  await any.close();
  const { sync } = handles;
  test.mock.method(handles, "sync", function (this: FileHandle): Promise<void> {
    onSync(readlinkSync(`/proc/self/fd/${this.fd}`));
    return sync.call(this);
  });
}
