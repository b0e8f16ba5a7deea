// From files an operator edits to the configuration of the next start: all parts together, on a real folder.

import assert from "node:assert/strict";
import { appendFile, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { DynamicConfig } from "../../../../src/main/process/dynamic-config/dynamic-config.js";
import { followConfiguration } from "../../../../src/main/process/dynamic-config/follow.js";
import { LocalSource } from "../../../../src/main/process/dynamic-config/local-source.js";
import { prepareConfiguration } from "../../../../src/main/process/dynamic-config/prepare.js";
import { keptLog, temporaryFolder, until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { validate } from "./kit.js";

const MIN_RESTART_MS = 5_000;

test("an edit in several writes to several files: one restart, which runs with all of it", async (t) => {
  const root = await temporaryFolder(t);
  const [config, dropIns, directory] = [join(root, "kubelet.yaml"), join(root, "kubelet.d"), join(root, "dynamic")];
  await mkdir(dropIns);
  await writeFile(config, "one\n");
  const clock = new SteppedClock();
  const { log } = keptLog();
  const source = new LocalSource({ config, dropIns }, clock, log);
  const events: string[] = [];
  const start = (): Promise<DynamicConfig> =>
    prepareConfiguration({
      directory,
      source,
      allowedSources: [],
      validate,
      clock,
      log,
      record: ({ reason }) => events.push(reason),
    });
  const dynamic = await start();
  let restarts = 0;
  const followed = followConfiguration(dynamic, {
    healthy: () => true,
    restartInPlace: async () => {
      restarts++;
      await followed.stop();
      return new Promise<never>(() => undefined);
    },
    eventsSent: () => Promise.resolve(),
    changedPaths: () => Promise.resolve(["maxPods"]),
    applyInPlace: () => Promise.resolve(false),
  });
  clock.step(MIN_RESTART_MS);

  await writeFile(join(root, "next"), "two\n");
  await rename(join(root, "next"), config);
  await appendFile(config, "more\n");
  await writeFile(join(dropIns, "10.conf"), "ten\n");
  await until("the restart", () => {
    clock.step(20);
    return restarts > 0;
  });
  const next = await start();
  assert.deepEqual(next.files, {
    config: { path: config, text: "two\nmore\n" },
    dropIns: [{ path: join(dropIns, "10.conf"), text: "ten\n" }],
  });
  assert.equal(restarts, 1);
  assert.deepEqual(events, ["KubeletConfigChanged"]);
  await next.flush();
  const status = JSON.parse(await readFile(join(directory, "store", "meta", "status.json"), "utf8")) as {
    active?: { digest: string };
  };
  assert.equal(status.active?.digest, next.active?.digest);
});
