// A state that another policy has left keeps the kubelet from starting; none, or an own one, does not.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { checkLeftStates } from "../../../../src/main/resources/managers/left-states.js";
import { OperatorError } from "../../../../src/shared/base/errors/operator-error.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

test("policy none beside a state of policy static", async (t) => {
  const rootDir = await temporaryFolder(t);
  const check = (cpuManagerPolicy: "none" | "static", memoryManagerPolicy: "None" | "Static" = "None"): Promise<void> =>
    checkLeftStates({ rootDir, cpuManagerPolicy, memoryManagerPolicy }, new SteppedClock(), keptLog().log);
  await check("none");
  await writeFile(join(rootDir, "cpu_manager_state"), '{"policyName":"static","defaultCpuSet":"0-1"}');
  await assert.rejects(check("none"), OperatorError);
  await check("static");
  await writeFile(join(rootDir, "cpu_manager_state"), '{"policyName":"none","defaultCpuSet":""}');
  await check("none");
  const entries = '{"uid-a":{"app":[{"numaAffinity":[0],"type":"memory","size":1}]}}';
  await writeFile(
    join(rootDir, "memory_manager_state"),
    `{"policyName":"Static","machineState":{},"entries":${entries}}`,
  );
  await assert.rejects(check("none"), OperatorError);
  await check("none", "Static");
});
