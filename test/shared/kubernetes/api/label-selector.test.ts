// Label selectors with keys that are names of JavaScript's objects.

import { equal } from "node:assert/strict";
import { test } from "node:test";
import { selects } from "../../../../src/shared/kubernetes/api/label-selector.js";

const NAMES = ["constructor", "toString", "hasOwnProperty", "valueOf"];

test("a key that objects inherit is absent unless the labels have it", () => {
  for (const key of NAMES) {
    const exists = { matchExpressions: [{ key, operator: "Exists" }] };
    const absent = { matchExpressions: [{ key, operator: "DoesNotExist" }] };
    equal(selects(exists, {}), false, key);
    equal(selects(absent, {}), true, key);
    equal(selects(exists, { [key]: "" }), true, key);
    equal(selects({ matchExpressions: [{ key, operator: "NotIn", values: ["a"] }] }, {}), true, key);
  }
});
