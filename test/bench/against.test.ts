import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compare, ratio, turns } from "../../bench/lib/against.js";
import type { Report } from "../../bench/lib/page.js";

const reports = (rows: Report["rows"]): Report[] => [{ title: "Burst", head: ["pods", "ms", "by thread"], rows }];

describe("turns of two kubelets", () => {
  it("come in the order A B B A", () => {
    assert.deepEqual(turns(4), ["ours", "other", "other", "ours"]);
    assert.deepEqual(turns(8).slice(4), turns(4));
  });

  it("are equally many for both kubelets, or none at all", () => {
    for (const count of [0, 1, 2, 6, 4.5, Number.NaN]) assert.throws(() => turns(count), RangeError, String(count));
    for (const count of [4, 8, 12]) assert.equal(turns(count).filter((side) => side === "ours").length, count / 2);
  });

  it("give each kubelet the same mean position", () => {
    for (const count of [4, 8]) {
      const sum = (wanted: string): number =>
        turns(count).reduce((total, side, at) => total + (side === wanted ? at : 0), 0);
      assert.equal(sum("ours"), sum("other"));
    }
  });
});

describe("tables of two kubelets", () => {
  it("show the median of each side and their ratio after each column of figures", () => {
    const ours = [reports([[1, 10, "main 1 %"]]), reports([[1, 30, "main 2 %"]])];
    const other = [reports([[1, 50, "–"]]), reports([[1, 30, "–"]])];
    assert.deepEqual(compare(ours, other), [
      {
        title: "Burst, beside the other kubelet",
        head: ["pods", "ms", "other", "ratio", "by thread"],
        rows: [[1, 20, 40, 0.5, "main 1 %"]],
      },
    ]);
  });

  it("match rows by their first cell and show no ratio for a row of one side only", () => {
    const ours = [
      reports([
        ["a", 1, ""],
        ["b", 2, ""],
      ]),
    ];
    const other = [
      reports([
        ["b", 4, ""],
        ["c", 9, ""],
      ]),
    ];
    assert.deepEqual(compare(ours, other)[0]?.rows, [
      ["a", 1, undefined, undefined, ""],
      ["b", 2, 4, 0.5, ""],
    ]);
  });

  it("leave turns without a figure out of the median", () => {
    const ours = [
      reports([["a", undefined, ""]]),
      reports([["a", 3, ""]]),
      reports([["a", 5, ""]]),
      reports([["a", 4, ""]]),
    ];
    assert.deepEqual(compare(ours, ours)[0]?.rows, [["a", 4, 4, 1, ""]]);
  });
});

describe("the ratio", () => {
  it("is ours over the other's, rounded to a hundredth, and missing without a divisor", () => {
    assert.equal(ratio(2, 3), 0.67);
    assert.equal(ratio(0, 3), 0);
    assert.equal(ratio(3, 0), undefined);
    assert.equal(ratio(undefined, 1), undefined);
  });
});
