import assert from "node:assert/strict";
import { test } from "node:test";
import { forkInTurn } from "../../../../src/shared/node/volume-calls/helper.js";
import { until } from "../../../support/sources-kit.js";

test("helper processes start in the order of their calls, one in a round of the event loop", async () => {
  let round = 0;
  const count = (): void => {
    round++;
    if (started.length < 6) setImmediate(count);
  };
  const started: { helper: number; round: number }[] = [];
  setImmediate(count);
  for (let helper = 0; helper < 6; helper++) forkInTurn(() => started.push({ helper, round }));
  await until(() => started.length >= 6);
  assert.deepEqual(
    started.map(({ helper }) => helper),
    [0, 1, 2, 3, 4, 5],
  );
  // An immediate counts at the end of a round: the first two seem to share one.
  assert.deepEqual(
    started.map((one) => one.round - (started[0]?.round ?? 0)),
    [0, 0, 1, 2, 3, 4],
  );
});
