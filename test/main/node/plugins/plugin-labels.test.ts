// The folders of plugins get a label on nodes with SELinux, and nothing of it can keep plugins from registering.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { labelPluginFolders } from "../../../../src/main/node/plugins/plugin-labels.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";

for (const enabled of [true, false]) {
  test(`SELinux ${enabled ? "enabled: both folders are labelled" : "not enabled: no program runs"}`, async (t) => {
    const rootDir = await temporaryFolder(t);
    const calls: string[] = [];
    await labelPluginFolders({
      rootDir,
      log: keptLog().log,
      isEnabled: () => Promise.resolve(enabled),
      program: (program, args) => {
        calls.push([program, ...args].join(" "));
        return Promise.resolve();
      },
    });
    const folders = `${rootDir}/plugins_registry ${rootDir}/plugins`;
    assert.deepEqual(calls, enabled ? [`chcon -- system_u:object_r:container_file_t:s0 ${folders}`] : []);
    assert.equal(existsSync(`${rootDir}/plugins`), enabled);
  });
}

test("a label that cannot be set is a warning", async (t) => {
  const { log, warnings } = keptLog();
  await labelPluginFolders({
    rootDir: await temporaryFolder(t),
    log,
    isEnabled: () => Promise.resolve(true),
    program: () => Promise.reject(new Error("Operation not supported")),
  });
  assert.match(warnings().join(), /cannot set the SELinux label .*plugins_registry.*Operation not supported/);
});
