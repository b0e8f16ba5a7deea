// Directories of a pod on the node's disk.

import assert from "node:assert/strict";
import { test } from "node:test";
import { podTrees } from "../../../../src/main/pods/disk-usage/pod-trees.js";
import { container, pod } from "../../../support/pods.js";

test("volumes of the node's own, every container's logs, and the hosts file", () => {
  const web = pod(
    {
      initContainers: [container("setup")],
      ephemeralContainers: [container("debug")],
      volumes: [
        { name: "scratch", emptyDir: {} },
        { name: "fast", emptyDir: { medium: "Memory" } },
        { name: "conf", configMap: { name: "c" } },
        { name: "far", nfs: { server: "s", path: "/" } },
        { name: "driver", csi: { driver: "d.example.com" } },
        { name: "claim", persistentVolumeClaim: { claimName: "c" } },
        { name: "host", hostPath: { path: "/" } },
      ],
    },
    "web",
    "u1",
  );
  const trees = podTrees(web, { rootDir: "/r", podLogsDir: "/l" });
  const volumes = "/r/pods/u1/volumes/kubernetes.io";
  assert.deepEqual(
    trees.map(({ kind, name, path, itself }) => [kind, name, path, itself]),
    [
      ["volume", "scratch", `${volumes}~empty-dir/scratch`, true],
      ["volume", "fast", `${volumes}~empty-dir/fast`, true],
      ["volume", "conf", `${volumes}~configmap/conf`, true],
      ["log", "setup", "/l/default_web_u1/setup", false],
      ["log", "app", "/l/default_web_u1/app", false],
      ["log", "debug", "/l/default_web_u1/debug", false],
      ["other", "", "/r/pods/u1/etc-hosts", true],
      ["other", "", "/r/pods/u1/containers", false],
    ],
  );
});
