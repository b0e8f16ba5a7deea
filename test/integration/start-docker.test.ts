// npm start -- --runtime docker: the example pods run on its own Docker Engine, and nothing of it is left.
// @promise Docker Engine: `npm start -- --runtime docker` runs the example pods on an Engine of its own and leaves
//   nothing (`NODELET_TEST_RUNTIME=docker`).

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { assertNothingIsLeft, npmStart } from "../support/npm-start.js";

const isDocker = process.env["NODELET_TEST_RUNTIME"] === "docker";

suite(
  "npm start -- --runtime docker",
  { skip: !isDocker && "needs a Docker Engine: NODELET_TEST_RUNTIME=docker" },
  () => {
    test("the sample pod runs; then pods, Engine and files are removed", async (t) => {
      const run = await npmStart("start", ["--runtime", "docker", "--until-ready"]);
      t.after(() => run.stop());
      assert.equal(await run.closed, 0, run.problems());
      assert.match(run.out(), /^ready: pod hello is Running/m);
      assert.match(run.out(), /^runtime +docker \d+\./m);
      await assertNothingIsLeft(run);
    });
  },
);
