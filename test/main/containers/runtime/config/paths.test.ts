import assert from "node:assert/strict";
import { test } from "node:test";
import {
  containerLogPath,
  logSymlinkName,
  nextRestartCount,
  podLogDirectory,
} from "../../../../../src/main/model/paths.js";
import { seccompProfileRoot } from "../../../../../src/main/model/root-directory.js";
import { criSignal, signalName } from "../../../../../src/main/model/stop-signals.js";
import * as dirs from "../../../../../src/shared/kubernetes/api/pod-paths.js";
import { Signal } from "../../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podUid, containerIdOf } from "../../../../../src/shared/kubernetes/identifiers.js";
import { criContainer, makePod } from "../../../pods/status/fixtures.js";

test("log paths have namespace, name and restart count", () => {
  const pod = makePod();
  assert.equal(podLogDirectory("/var/log/pods", pod), "/var/log/pods/ns_web_u1");
  assert.equal(containerLogPath("a", 2), "a/2.log");
  assert.equal(logSymlinkName(pod, "a", containerIdOf("cid")), "web_ns_a-cid.log");
  const long = logSymlinkName(makePod({}, { name: "x".repeat(250) }), "a", containerIdOf("cid"));
  assert.equal(long.length, 255);
  assert.ok(long.endsWith(".log"));
});

test("restart count of the next container", () => {
  const key = "io.kubernetes.container.restartCount";
  assert.equal(nextRestartCount(criContainer("a", { annotations: { [key]: "4" } }), ["9.log"]), 5);
  assert.equal(nextRestartCount(criContainer("a", { metadata: { name: "a", attempt: 2 } }), []), 3);
  assert.equal(nextRestartCount(undefined, []), 0);
  assert.equal(nextRestartCount(undefined, ["0.log", "2.log.20260101-000000.gz", "10.log", "x.log"]), 11);
});

test("data directories stand where upstream has them", () => {
  const root = "/r";
  assert.equal(
    dirs.volumeDirectory(root, podUid("u"), "kubernetes.io/empty-dir", "v"),
    "/r/pods/u/volumes/kubernetes.io~empty-dir/v",
  );
  assert.equal(dirs.subPathsDirectory(root, podUid("u")), "/r/pods/u/volume-subpaths");
  assert.equal(dirs.terminationLogPath(root, podUid("u"), "a", 0xbeef), "/r/pods/u/containers/a/0000beef");
  assert.equal(dirs.etcHostsPath(root, podUid("u")), "/r/pods/u/etc-hosts");
  assert.equal(dirs.devicesDirectory(root, podUid("u")), "/r/pods/u/volumeDevices");
  assert.equal(dirs.metaDirectory(root, podUid("u"), "a/b", "v"), "/r/pods/u/plugins/a~b/v");
  assert.equal(dirs.usernsPath(root, podUid("u")), "/r/pods/u/userns");
  assert.equal(seccompProfileRoot(root), "/r/seccomp");
  assert.deepEqual(dirs.firstDirectories(root, podUid("u")), ["/r/pods/u", "/r/pods/u/volumes", "/r/pods/u/plugins"]);
});

test("no path is made of a UID that is unsafe as a path element", () => {
  for (const uid of ["..", "", "a/b", "../../etc"]) {
    assert.throws(() => dirs.etcHostsPath("/r", podUid(uid)), { name: "OperatorError" });
    assert.throws(() => dirs.firstDirectories("/r", podUid(uid)), { name: "OperatorError" });
    assert.throws(() => dirs.usernsPath("/r", podUid(uid)), { name: "OperatorError" });
    assert.equal(dirs.volumePath("/r", podUid(uid), { name: "v", emptyDir: {} }), undefined);
  }
});

test("signals by name, there and back", () => {
  assert.equal(criSignal("SIGTERM"), Signal.SIGTERM);
  assert.equal(criSignal("SIGRTMAX-2"), Signal.SIGRTMAXMINUS2);
  assert.equal(criSignal("SIGNONE"), undefined);
  assert.equal(criSignal("3"), undefined);
  assert.equal(signalName(Signal.RUNTIME_DEFAULT), undefined);
  for (const name of ["SIGKILL", "SIGRTMIN+15", "SIGRTMAX-14", "SIGRTMAX"]) {
    assert.equal(signalName(criSignal(name) ?? Signal.RUNTIME_DEFAULT), name);
  }
});
