// Files that a pod planted among the rotated logs: they keep no other file from its compression.

import { deepEqual, equal, match } from "node:assert/strict";
import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { test } from "node:test";
import { CompressQueue } from "../../../../src/main/containers/logs/compress-queue.js";
import type { Logger } from "../../../../src/shared/telemetry/log/logger.js";
import { compressLog } from "../../../../src/workers/tasks/index.js";
import { temporaryFolder } from "../../../support/sources-kit.js";

test("a file of terabytes and a link are left out; the files after them and of other logs are compressed", async (t) => {
  const folder = await temporaryFolder(t);
  const [first, second] = [join(folder, "first"), join(folder, "second")];
  for (const log of [first, second]) {
    await mkdir(log);
    for (const day of [3, 4, 5]) await writeFile(join(log, `0.log.2026010${day}-000000`), "lines");
  }
  await writeFile(join(first, "0.log.20260101-000000"), "");
  await truncate(join(first, "0.log.20260101-000000"), 2 ** 40);
  await symlink("/etc/hostname", join(first, "0.log.20260102-000000"));
  const [ran, warnings]: [string[], string[]] = [[], []];
  const queue = new CompressQueue({
    run: (job, { deadlineMs }) => {
      ran.push(`${basename(job.path)} in ${deadlineMs / 1000} s`);
      return Promise.resolve(compressLog(job));
    },
    largest: 2 ** 30,
    log: { warn: (_fields: object, line: string) => void warnings.push(line) } as unknown as Logger,
    onDone: () => undefined,
  });
  queue.add(join(first, "0.log"));
  queue.add(join(second, "0.log"));
  await queue.idle();
  const days = ["0.log.20260103-000000 in 31 s", "0.log.20260104-000000 in 31 s"];
  deepEqual(ran.sort(), [...days, ...days].sort());
  equal(warnings.length, 1, warnings.join("\n"));
  match(warnings[0] ?? "", /first\/0.log stay uncompressed .* 0.log.20260101-000000 has 1099511627776 bytes/);
});
