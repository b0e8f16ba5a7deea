// Which volumes get a quota, and that a node without project quotas works as before. The real file systems:
// test/vm/quotas.test.ts.

import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { ProjectQuotas } from "../../../../src/main/volumes/quotas/project-quotas.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { keptLog } from "../../../support/sources-kit.js";
import { hostPathOf, isRoot, manager, never, podWith, temporaryRoot } from "../temporary-root.js";

const volumes = [{ name: "data", emptyDir: {} }];

function recorder() {
  const calls: string[] = [];
  const note =
    (call: string) =>
    (directory: string): Promise<void> => {
      calls.push(`${call} ${directory}`);
      return Promise.resolve();
    };
  return { calls, quotas: { assign: note("assign"), adopt: note("adopt"), clear: note("clear") } };
}

test("a new emptyDir on disk of a pod in a user namespace gets a project; a later sync adopts it; the end clears it", async (t) => {
  const root = await temporaryRoot(t);
  const { calls, quotas } = recorder();
  const one = manager(root, { quotas });
  const pod = podWith(volumes, { hostUsers: false });
  const directory = hostPathOf(await one.setUpPod(pod, never), "data");
  await manager(root, { quotas }).setUpPod(pod, never);
  await one.tearDownPod(podUid("uid-1"));
  assert.deepEqual(calls, [`assign ${directory}`, `adopt ${directory}`, `clear ${directory}`]);
});

test("a pod of the node's own user namespace gets no project", async (t) => {
  for (const spec of [{}, { hostUsers: true }]) {
    const { calls, quotas } = recorder();
    await manager(await temporaryRoot(t), { quotas }).setUpPod(podWith(volumes, spec), never);
    assert.deepEqual(calls, []);
  }
});

test("a volume in memory gets no project", { skip: isRoot ? false : "needs root" }, async (t) => {
  const { calls, quotas } = recorder();
  const memory = [{ name: "data", emptyDir: { medium: "Memory" } }];
  const one = manager(await temporaryRoot(t), { quotas });
  await one.setUpPod(podWith(memory, { hostUsers: false }), never);
  assert.deepEqual(calls, []);
  await one.tearDownPod(podUid("uid-1"));
});

async function quotasIn(t: TestContext, enabled: boolean) {
  const root = await temporaryRoot(t);
  const paths = { projects: join(root, "projects"), projid: join(root, "projid") };
  const kept = keptLog();
  await mkdir(join(root, "volume"));
  return { root, paths, kept, quotas: new ProjectQuotas({ enabled, clock: systemClock, log: kept.log, paths }) };
}

test("without project quotas in the file system, usage is unknown, and the log names the missing part once", async (t) => {
  // The file systems on which these tests run count no projects; where one does, test/vm/quotas.test.ts has the other
  // half.
  const { root, quotas, kept, paths } = await quotasIn(t, true);
  for (const name of ["a", "b"]) {
    await mkdir(join(root, name));
    await quotas.assign(join(root, name));
    assert.equal(await quotas.usage(join(root, name)), undefined);
  }
  const lines = kept.lines.filter(({ msg }) =>
    msg.includes("LocalStorageCapacityIsolationFSQuotaMonitoring is on, but"),
  );
  assert.equal(lines.length, 1);
  await assert.rejects(readFile(paths.projects), /ENOENT/);
});

test("the end of a volume removes its lines, also with the gate off and also those of another kubelet", async (t) => {
  const { root, quotas, paths } = await quotasIn(t, false);
  const directory = join(root, "volume");
  await writeFile(paths.projects, `1048577:${directory}\n1048578:/other\n`);
  await writeFile(paths.projid, "volume1048577:1048577\nvolume1048578:1048578\n");
  await quotas.clear(directory);
  assert.equal(await readFile(paths.projects, "utf8"), "1048578:/other\n");
  assert.equal(await readFile(paths.projid, "utf8"), "volume1048578:1048578\n");
});

test("files that cannot be changed are a warning, not an error", async (t) => {
  const { root, quotas, paths, kept } = await quotasIn(t, true);
  await mkdir(paths.projects);
  await quotas.clear(join(root, "volume"));
  assert.ok(kept.lines.some(({ msg }) => msg.includes(`cannot remove the project of ${join(root, "volume")}`)));
});
