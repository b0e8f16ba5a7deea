// The checks before a node starts: swap, permissions, and whether a cluster is asked for.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { checkCluster, isClusterError } from "../../../src/main/startup/cluster.js";
import { checkPermissions } from "../../../src/main/startup/process/permissions.js";
import { checkSwap, isSwapOnError, swapDevices } from "../../../src/main/startup/process/swap.js";
import { keptLog, temporaryFolder } from "../../support/sources-kit.js";

const HEAD = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
const DEVICE = "/dev/sda2                               partition\t2097148\t0\t-2\n";

describe("swap", () => {
  const table: [string, string, string[]][] = [
    ["none", HEAD, []],
    ["empty file", "", []],
    ["one", HEAD + DEVICE, ["/dev/sda2"]],
    ["two", `${HEAD}${DEVICE}/swapfile file\t1\t0\t-3\n`, ["/dev/sda2", "/swapfile"]],
  ];
  for (const [name, text, expected] of table) {
    test(name, () => assert.deepEqual(swapDevices(text), expected));
  }

  test("is refused by name unless the kubelet was told otherwise", async (t) => {
    const path = join(await temporaryFolder(t), "swaps");
    await checkSwap(true, path);
    await writeFile(path, HEAD + DEVICE);
    await checkSwap(false, path);
    await assert.rejects(checkSwap(true, path), (error) => {
      assert.ok(isSwapOnError(error));
      assert.match(error.message, /swap is on \(\/dev\/sda2\).*--fail-swap-on=false/);
      return true;
    });
  });
});

describe("permissions", () => {
  for (const [uid, root] of [
    [0, true],
    [undefined, true],
    [1000, false],
  ] as const) {
    test(`uid ${uid}`, () => {
      const { log, warnings } = keptLog();
      assert.equal(checkPermissions(uid, log), root);
      assert.deepEqual(
        warnings().map((line) => /uid 1000.*cgroups/.test(line)),
        root ? [] : [true],
      );
    });
  }
});

describe("a cluster", () => {
  const missing = "/nonexistent/kubelet.conf";
  test("is not asked for: said once", async () => {
    const { log, lines } = keptLog();
    assert.equal(await checkCluster({ kubeconfig: "", bootstrapKubeconfig: "" }, log), false);
    assert.deepEqual(
      lines.map(({ msg }) => msg.slice(0, 31)),
      ["Standalone mode, no API client:"],
    );
  });

  const table: [string, string, string, RegExp][] = [
    ["bootstrap only", "", missing, /--bootstrap-kubeconfig is given without --kubeconfig/],
    ["no file, no bootstrap", missing, "", /--kubeconfig \/nonexistent\/kubelet.conf does not exist.*kubeadm join/],
    ["kubeadm before init", missing, "/nonexistent/b.conf", /neither .*kubelet.conf nor .*b.conf exists.*kubeadm init/],
  ];
  test("is joined with a kubeconfig, or with what one can be asked for with", async () => {
    const there = import.meta.filename;
    assert.ok(await checkCluster({ kubeconfig: there, bootstrapKubeconfig: "" }, keptLog().log));
    assert.ok(await checkCluster({ kubeconfig: missing, bootstrapKubeconfig: there }, keptLog().log));
  });
  for (const [name, kubeconfig, bootstrapKubeconfig, message] of table) {
    test(name, async () => {
      await assert.rejects(checkCluster({ kubeconfig, bootstrapKubeconfig }, keptLog().log), (error) => {
        assert.ok(isClusterError(error));
        assert.match(error.message, message);
        assert.match(error.message, /run stand-alone/);
        return true;
      });
    });
  }
});
