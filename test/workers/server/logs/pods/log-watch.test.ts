// Wake-ups of a follower, with a real inotify and a clock that stands still.

import assert from "node:assert/strict";
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { LogWatch } from "../../../../../src/workers/server/logs/pods/log-watch.js";
import { heldBy } from "../../../../support/abort-listeners.js";
import { temporaryFolder } from "../../../../support/sources-kit.js";
import { SteppedClock } from "../../../../support/stepped-clock.js";

test("growth wakes a reader that found nothing; one that found something rests, and sees the rest", async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, "0.log");
  const file = await open(path, "a+");
  t.after(() => file.close());
  const clock = new SteppedClock();
  using watch = new LogWatch(clock, folder);
  watch.follow(file.fd);
  const { signal } = new AbortController();
  const look = (found: boolean): Promise<string> => watch.wait(1000, signal, found);

  const first = look(false);
  await file.appendFile("a");
  assert.equal(await first, "grew");

  // An event for the growth would come before the new file in the folder.
  const resting = look(true);
  await file.appendFile("b");
  await writeFile(join(folder, "other"), "");
  assert.equal(await resting, "changed");

  const rested = look(true);
  await file.appendFile("c");
  clock.step(100);
  assert.equal(await rested, "grew");

  assert.equal(await look(false), "grew", "what came during the rests was not told of");
  const next = look(false);
  await file.appendFile("d");
  assert.equal(await next, "grew");
});

test("the rests of a busy follower leave nothing on its signal", async (t) => {
  const folder = await temporaryFolder(t);
  const file = await open(join(folder, "0.log"), "a+");
  t.after(() => file.close());
  const clock = new SteppedClock();
  using watch = new LogWatch(clock, folder);
  watch.follow(file.fd);
  const { signal } = new AbortController();
  for (let rest = 0; rest < 1000; rest++) {
    const rested = watch.wait(1000, signal, true);
    clock.step(100);
    await rested;
  }
  assert.equal(heldBy(signal), 0);
});
