import assert from "node:assert/strict";
import { test } from "node:test";
import { chosenLane } from "../../harness/chosen-lane.js";

test("an unset, empty or default variable chooses no runtime", () => {
  for (const env of [{}, { NODELET_CONTAINERD: "" }, { NODELET_CONTAINERD: "installed" }]) {
    assert.equal(chosenLane(env), undefined);
  }
});

test("newest chooses containerd 2, and docker wins over it", () => {
  assert.equal(chosenLane({ NODELET_CONTAINERD: "newest" }), "containerd2");
  assert.equal(chosenLane({ NODELET_CONTAINERD: "newest", NODELET_TEST_RUNTIME: "docker" }), "docker");
});

test("a value that names no runtime is refused, with the nearest one", () => {
  const refusal = (env: Record<string, string>): string => {
    try {
      chosenLane(env);
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.equal(
    refusal({ NODELET_CONTAINERD: "newst" }),
    "NODELET_CONTAINERD=newst: the tests run on installed or newest; did you mean newest?",
  );
  assert.equal(
    refusal({ NODELET_TEST_RUNTIME: "toString" }),
    "NODELET_TEST_RUNTIME=toString: the tests run on containerd or docker",
  );
});
