// A pod that mounts /var/log/pods plants links and FIFOs where the dockershim thread writes container logs.
// @promise Docker Engine: Links, FIFOs and folders that a pod plants where the dockershim thread writes logs are
//   neither followed nor opened; output of a command in parts of one byte takes no more memory than twice its bytes; a
//   refused client of its streaming server, and a watcher of manifests that takes nothing, lose their connection; a
//   flexVolume whose server does not respond is unmounted without a look at it.
// @with test/workers/dockershim/exec-output.test.ts, test/workers/dockershim/streaming.test.ts,
//   test/workers/server/pods/manifest-watches.test.ts, test/main/volumes/flex/flex-volumes.test.ts

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { Readable } from "node:stream";
import { test, type TestContext } from "node:test";
import type { Engine } from "../../../src/workers/dockershim/engine/engine.js";
import { ContainerLog } from "../../../src/workers/dockershim/logs/container-log.js";
import { keptLog, until } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";

/** One record of docker, with a terminal. */
const RECORD = "2026-01-02T03:04:05.000000006Z secret=1\n";

function planted(t: TestContext, plant: (path: string, dir: string) => void) {
  const dir = mkdtempSync(`${tmpdir()}/nodelet-planted-`);
  t.after(() => rmSync(dir, { recursive: true }));
  const folder = `${dir}/ns_pod_uid/app`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${dir}/host-file`, "of the node\n");
  plant(`${folder}/0.log`, dir);
  const docker = {
    getContainer: () => ({
      logs: () => Promise.resolve(Readable.from([Buffer.from(RECORD)])),
      inspect: () => Promise.resolve({ State: { Running: false } }),
    }),
  };
  const engine = {
    call: (signal: AbortSignal, work: (client: unknown, signal: AbortSignal) => unknown) => work(docker, signal),
  } as unknown as Engine;
  const kept = keptLog();
  const deps = { engine, clock: new SteppedClock(1000), log: kept.log };
  const log = new ContainerLog({ id: "c", path: `${folder}/0.log`, tty: true, adopted: false }, deps);
  return { log, kept, dir, folder };
}

for (const [what, plant, reason] of [
  ["a FIFO", (path: string) => void execFileSync("mkfifo", [path]), /0.log is a FIFO, not a regular file/],
  [
    "a link to a file of the node",
    (path: string, dir: string) => symlinkSync(`${dir}/host-file`, path),
    /0.log is a symbolic link, not a regular file/,
  ],
  [
    "a link instead of the container's folder",
    (path: string, dir: string) => {
      rmSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      mkdirSync(`${dir}/elsewhere`);
      symlinkSync(`${dir}/elsewhere`, path.slice(0, path.lastIndexOf("/")));
    },
    /app is not a directory, or is a symbolic link/,
  ],
] as const) {
  test(`${what} in a log folder is neither opened nor followed`, async (t) => {
    const { log, kept, dir } = planted(t, plant);
    await until("the refusal is logged", () => kept.warnings().length > 0);
    assert.match(kept.warnings()[0] ?? "", reason);
    await log.stop();
    assert.equal(readFileSync(`${dir}/host-file`, "utf8"), "of the node\n");
  });
}

test("records are appended to the log of an earlier process", async (t) => {
  const first = "2026-01-02T03:04:05.000000005Z stdout F before\n";
  const { log, folder } = planted(t, (path) => writeFileSync(path, first));
  await log.done;
  assert.equal(readFileSync(`${folder}/0.log`, "utf8"), `${first}2026-01-02T03:04:05.000000006Z stdout F secret=1\n`);
});
