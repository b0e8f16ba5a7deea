// Integers that JavaScript's numbers cannot hold, in the text of a pod.

import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { nearestSafe, textWithDigits } from "../../../../src/shared/kubernetes/api/wide-integers.js";

const SAFE = Number.MAX_SAFE_INTEGER;
const MAX = "9223372036854775807";

test("a number beyond 2^53 is kept as the nearest one that JSON writes exactly", () => {
  deepEqual([2 ** 63, -(2 ** 63), SAFE, -5].map(nearestSafe), [SAFE, -SAFE, SAFE, -5]);
});

describe("the text of an object", () => {
  test("it has the digits at their paths", () => {
    const value = { spec: { grace: SAFE, list: [{ seconds: -SAFE }, { seconds: SAFE }] } };
    const text = textWithDigits(value, [
      { path: ["spec", "grace"], digits: MAX },
      { path: ["spec", "list", 0, "seconds"], digits: "-9223372036854775808" },
    ]);
    equal(text, `{"spec":{"grace":${MAX},"list":[{"seconds":-9223372036854775808},{"seconds":${SAFE}}]}}`);
    equal(value.spec.grace, SAFE, "the object itself is not changed");
  });

  test("it is that of JSON.stringify where no digits were kept", () => {
    equal(textWithDigits({ a: SAFE, b: undefined }, undefined), `{"a":${SAFE}}`);
  });

  test("a value that a default replaced, and a path that is gone, change nothing", () => {
    const wide = [["grace"], ["gone", 0], ["list", 7], ["list", "length"], ["grace", "x"], []].map((path) => ({
      path,
      digits: MAX,
    }));
    equal(textWithDigits({ grace: 1, list: [] }, wide), '{"grace":1,"list":[]}');
  });
});
