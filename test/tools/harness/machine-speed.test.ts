import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isSlow, slownessOf } from "../../harness/machine-speed.js";
import { timeBudget } from "../../harness/time-budget.js";

describe("the deadlines on a machine that starts processes slowly", () => {
  test("they are longer by the median start, from the usual ones to three times as long", () => {
    assert.equal(slownessOf([10, 20, 30]), 1);
    assert.equal(slownessOf([40, 900, 80, 90, 100]), 2.3);
    assert.equal(slownessOf([900, 900, 900]), 3);
  });
  test("fewer lanes run on a machine at half of the usual speed", () => {
    assert.deepEqual([1, 1.7, 2, 3].map(isSlow), [false, false, true, true]);
  });
});

describe("the time of a run", () => {
  test("files beside others begin until ten minutes before its end, and files alone until its end", () => {
    let minutes = 0;
    const budget = timeBudget("40", () => minutes * 60_000);
    const answers = [0, 29, 30, 39, 40].map((now) => {
      minutes = now;
      return [budget.isOverTogether(), budget.isOver()];
    });
    assert.deepEqual(answers, [
      [false, false],
      [false, false],
      [true, false],
      [true, false],
      [true, true],
    ]);
  });
  test("it has no end without the variable", () => {
    for (const value of [undefined, ""]) assert.equal(timeBudget(value, () => 1e12).isOver(), false);
  });
  test("a text that is no number of minutes is refused by the variable's name", () => {
    for (const value of ["0", "-5", "soon"])
      assert.throws(() => timeBudget(value, () => 0), /^SetupProblem: NODELET_TEST_MINUTES=/);
  });
});
