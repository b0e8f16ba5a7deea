// When a lane waits for the machine.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitForRoom } from "../../harness/overload.js";

describe("a lane on an overloaded machine", () => {
  /** How often a lane looked before it went on, with the loads that it saw. */
  async function looks(loads: readonly number[], othersRun: () => boolean = () => true): Promise<number> {
    const seen = [...loads];
    let slept = 0;
    const sleep = async (): Promise<void> => void (await Promise.resolve(slept++));
    await waitForRoom(othersRun, { processors: 2, load: () => seen.shift() ?? 0, sleep });
    return slept;
  }
  test("it waits until there are two tasks for each processor or fewer", async () => {
    assert.equal(await looks([9, 4.1, 4, 9]), 2);
  });
  test("it goes on if no other file runs", async () => {
    assert.equal(await looks([99, 99, 99], () => false), 0);
  });
});
