// Which tests run first after a change, as a table.

import assert from "node:assert/strict";
import { test } from "node:test";
import { recentFirst } from "../../harness/recent.js";
import type { Job } from "../../harness/selection.js";

const NAMES = [
  "cli/cp",
  "main/pods/sync/pod-records",
  "main/pods/sync/pod-worker",
  "shared/base/queue/ring",
  "workers/server/streams",
];
const JOBS: Job[] = NAMES.map((name) => ({ name, suite: "unit", lane: "plain", timeoutMs: 1 }));

const ROWS: [what: string, changed: string[], order: number[]][] = [
  ["nothing changed", [], [0, 1, 2, 3, 4]],
  ["a test", ["test/shared/base/queue/ring.test.ts"], [3, 0, 1, 2, 4]],
  ["its source, then its neighbours", ["src/main/pods/sync/pod-worker.ts"], [2, 1, 0, 3, 4]],
  ["a part of a source that is a folder", ["src/workers/server/streams/spdy.ts"], [4, 0, 1, 2, 3]],
  ["a source without a test of its own", ["src/main/pods/sync/lanes.ts"], [1, 2, 0, 3, 4]],
  ["a document", ["README.md"], [0, 1, 2, 3, 4]],
];

for (const [what, changed, order] of ROWS) {
  test(what, () => {
    assert.deepEqual(
      recentFirst(JOBS, changed).map(({ name }) => NAMES.indexOf(name)),
      order,
    );
  });
}
