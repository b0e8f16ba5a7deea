import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PodLogFiles } from "../../../../src/main/containers/runtime/pod-log-files.js";

function podWith(...directories: boolean[]): PodLogFiles {
  const files = new PodLogFiles();
  for (const isNew of directories) files.onDirectory(isNew);
  return files;
}

describe("the log files of a pod", () => {
  it("are known only if this kubelet made the log directory", () => {
    assert.equal(podWith(true).isFirstRun("app"), true);
    assert.equal(podWith(false).isFirstRun("app"), false);
    assert.equal(podWith().isFirstRun("app"), false);
    assert.equal(podWith(false, true).isFirstRun("app"), false, "an earlier directory was there, with links to it");
    assert.equal(podWith(false).takeLinks(), undefined);
  });

  it("have a first run of each container once, also if the directory is made sure of again", () => {
    const files = podWith(true);
    assert.equal(files.isFirstRun("app"), true);
    files.onDirectory(false);
    files.onDirectory(true);
    assert.equal(files.isFirstRun("app"), false);
    assert.equal(files.isFirstRun("sidecar"), true);
  });

  it("have links that are taken once, so that a repeated removal looks them up", () => {
    const files = podWith(true);
    files.onLink("/logs/a");
    files.onLink("/logs/b");
    assert.deepEqual(files.takeLinks(), ["/logs/a", "/logs/b"]);
    assert.equal(files.takeLinks(), undefined);
  });

  it("have unknown links after more restarts than are kept", () => {
    const files = podWith(true);
    for (let run = 0; run <= 50; run++) files.onLink(`/logs/${run}`);
    assert.equal(files.takeLinks(), undefined);
  });
});
