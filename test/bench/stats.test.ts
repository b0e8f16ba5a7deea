// The line through the samples of a soak, and how sure it is.

import assert from "node:assert/strict";
import { test } from "node:test";
import { slope, slopeError } from "../../bench/lib/stats.js";

test("points on a line have its slope, and no error", () => {
  const points = [0, 1, 2, 3].map((x) => [x, 5 + 2 * x] as const);
  assert.equal(slope(points), 2);
  assert.equal(slopeError(points), 0);
});

test("the error comes from the distances to the line", () => {
  const points = [
    [0, 0],
    [1, 2],
    [2, 1],
  ] as const;
  assert.equal(slope(points), 0.5);
  // Residuals -0.5, 1, -0.5; one degree of freedom; squares of x 2.
  assert.equal(slopeError(points), Math.sqrt(1.5 / 1 / 2));
});

test("two points show no error", () => {
  const two = [
    [0, 0],
    [1, 2],
  ] as const;
  assert.ok(Number.isNaN(slopeError(two)));
});

test("groups have lines of their own, which are parallel", () => {
  const points = [0, 1, 2, 3, 4, 5].map(
    (x) => [x, (x % 2 === 0 ? 10 : 50) + 3 * x, x % 2 === 0 ? "low" : "high"] as const,
  );
  assert.equal(slope(points), 3);
  assert.equal(slopeError(points), 0);
  // Two groups and a slope leave no freedom for three points.
  assert.ok(Number.isNaN(slopeError(points.slice(0, 3))));
});
