// Static pods keep their definitions in memory, also when they have ended. What all manifests of a folder have together
// is bounded, and a restart accepts those that it accepted before.

import assert from "node:assert/strict";
import { mkdir, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { ManifestRoom } from "../../../../src/main/pods/sources/manifest-room.js";
import { makeSources } from "../../../../src/main/pods/sources/start-sources.js";
import { createTasksPool } from "../../../../src/main/threads/tasks-pool.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { MANIFESTS_BYTES } from "../../../../src/shared/contracts/manifests.js";
import { keptLog, manifest, NO_EARLIER_PODS, temporaryFolder, until } from "../../../support/sources-kit.js";

const MIB = 2 ** 20;
/** Three of them fit. */
const LARGE = "# a comment in a manifest that somebody made large\n".repeat((9 * MIB) / 51);

const pool = createTasksPool({ heapMiB: 256, log: keptLog().log, clock: systemClock });
after(() => pool.close());

interface Started {
  changes: string[];
  errors: () => string[];
  stop: () => Promise<void>;
}

async function start(t: TestContext, folder: string): Promise<Started> {
  const { log, errors } = keptLog();
  const changes: string[] = [];
  let seen = false;
  const sources = makeSources({
    ...{ earlier: NO_EARLIER_PODS, onManifests: () => undefined, shorten: () => false, staticPodPath: folder },
    ...{ nodeName: "n", preventAPIReferences: true, log, clock: systemClock, fileCheckFrequencyMs: 200 },
    tasks: { run: (name, job, options) => pool.run(name, job, { ...options, deadlineMs: 60_000 }) },
    loop: {
      onPodChange: ({ kind, pod }) => changes.push(`${kind} ${pod.metadata.name}`),
      onSourcesSeen: () => (seen = true),
      onStaticSourcesSeen: () => undefined,
    },
  });
  sources.start();
  t.after(() => sources.stop());
  await until("all sources seen", () => seen);
  return { changes, errors, stop: () => sources.stop() };
}

test("a manifest beyond the sum is refused until another one goes", { timeout: 170_000 }, async (t) => {
  const folder = join(await temporaryFolder(t), "manifests");
  await mkdir(folder);
  const path = (name: string): string => join(folder, `${name}.yaml`);
  // The names are in another order than the times.
  for (const [age, name] of ["d", "b", "c", "a"].entries()) {
    await writeFile(path(name), LARGE + manifest(name));
    await utimes(path(name), 1000, 1000 + age);
  }
  for (let round = 0; round < 2; round++) {
    const { changes, errors, stop } = await start(t, folder);
    assert.deepEqual(changes.sort(), ["add b-n", "add c-n", "add d-n"]);
    await until("the refusal", () => errors().length > 0);
    assert.match(errors().join("\n"), /a\.yaml.*the files of its folder may have 32 MiB together/);
    if (round === 0) {
      await stop();
      continue;
    }
    await writeFile(path("small"), manifest("small"));
    await until("a small one to be accepted", () => changes.includes("add small-n"));
    await unlink(path("c"));
    await until("the refused one to be accepted", () => changes.includes("add a-n"));
    assert.equal(errors().length, 1, errors().join("\n"));
  }
});

test("a version that does not fit leaves the former one in force", () => {
  const room = new ManifestRoom();
  assert.ok(room.takes("a", MANIFESTS_BYTES - 10));
  assert.ok(room.takes("b", 10));
  assert.ok(!room.takes("b", 11));
  assert.equal(room.of("b"), 10);
  assert.ok(room.takes("a", 5));
  assert.ok(room.takes("b", 11));
  room.releases("a");
  room.releases("a");
  assert.ok(room.takes("c", MANIFESTS_BYTES - 11));
  assert.ok(!room.takes("d", 1));
});
