// The tarball for arm64, in an emulator of that processor with Debian's libraries for it. Node, native code and every
// thread run, and a pod on a runtime in memory.
// @promise Packages and documents: The kubelet of the arm64 tarball runs a pod with all its threads and native calls.
//   It runs on a runtime in memory, in an emulator of that processor.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { release } from "../../tools/release/release.js";
import { removeCgroups } from "../../tools/standalone/cgroups.js";
import { downloadPackages } from "../../tools/standalone/debian-packages.js";
import { run } from "../../tools/standalone/exec.js";
import { KUBELET_NODE_FLAGS, prepareKubelet, type KubeletProcess } from "../../tools/standalone/kubelet-process.js";
import { unmountBelow } from "../../tools/standalone/mounts.js";
import { step } from "../../tools/standalone/progress.js";
import { recordCgroup } from "../../tools/standalone/runs.js";
import { PATIENCE, waitFor } from "../../tools/standalone/wait.js";
import { startFakeCri, type FakeCri } from "../fake-cri/fake-cri.js";
import { freePort } from "../support/free-port.js";
import { ensureVmPackages } from "./packages.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
const LIBRARIES = { suite: "bookworm", architecture: "arm64", packages: ["libc6", "libgcc-s1", "libstdc++6"] };
const CGROUP = `/nodelet-arm64-${process.pid}`;

describe("the kubelet of the arm64 package", { timeout: 10 * 60_000 * PATIENCE }, () => {
  let dir: string;
  let program: string;
  const emulated = (script: string, ...args: string[]): Promise<string> =>
    run(program, [script, ...args], { timeoutMs: 120_000 * PATIENCE });

  before(async () => {
    await ensureVmPackages();
    await recordCgroup(CGROUP);
    dir = await mkdtemp(join(tmpdir(), "nodelet-arm64-"));
    const architectures = ["arm64"] as const;
    const say = (line: string): void => void process.stderr.write(`${line}\n`);
    const [tarball = ""] = await release(
      ROOT,
      { architectures, formats: ["tar"], out: dir, version: "1", fast: true },
      { say, step },
    );
    await run("tar", ["-xzf", tarball, "-C", dir]);
    const libraries = join(dir, "libraries");
    for (const folder of ["apt", "libraries"]) await mkdir(join(dir, folder));
    for (const file of await downloadPackages(join(dir, "apt"), LIBRARIES))
      await run("dpkg-deb", ["-x", file, libraries]);
    const home = join(dir, "nodelet-1-linux-arm64/root/usr/lib/nodelet");
    program = join(dir, "emulated");
    const line = `exec qemu-aarch64-static -L ${libraries} ${home}/node/node ${KUBELET_NODE_FLAGS.join(" ")}`;
    await writeFile(program, `#!/bin/sh\nscript=$1; shift\n${line} ${home}/dist/agent/$script "$@"\n`, { mode: 0o755 });
  });
  after(async () => {
    // The kubelet's root directory is a mount of its own.
    await unmountBelow(dir);
    await rm(dir, { recursive: true, force: true });
  });

  test("it prints its version, and checks a configuration", async () => {
    assert.match(await emulated("main/kubelet.js", "--version"), /^Kubernetes v1\.36\./);
    const config = join(dir, "config.yaml");
    await writeFile(config, "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 10\n");
    assert.match(await emulated("main/kubelet.js", "--config", config, "--check-config"), /^ok/);
    assert.match(await emulated("cli/nodelet.js", "--help"), /nodelet/);
  });

  test("it runs a pod on a runtime in memory, and stops by SIGTERM", async () => {
    const entry = join(dir, "kubelet");
    await writeFile(entry, `#!/bin/sh\nexec ${program} main/kubelet.js "$@"\n`, { mode: 0o755 });
    const cri: FakeCri = await startFakeCri({ socketPath: join(dir, "cri.sock") });
    const [readOnlyPort, healthzPort] = [await freePort(), await freePort()];
    const kubelet: KubeletProcess = await prepareKubelet({
      ...{ dir: join(dir, "node"), endpoint: cri.endpoint, cgroupRoot: CGROUP, nodeName: "arm64", entry },
      ...{ readOnlyPort, healthzPort },
    });
    try {
      await kubelet.start();
      await kubelet.waitHealthy(120_000 * PATIENCE);
      await writeFile(join(kubelet.manifests, "p.yaml"), JSON.stringify(POD));
      const isRunning = async (): Promise<boolean> =>
        (await kubelet.pods()).some((pod) => pod.metadata.name === "p-arm64" && pod.status?.phase === "Running");
      await waitFor(isRunning, { what: "the pod to be Running", timeoutMs: 60_000 });
      await kubelet.end("SIGTERM", 60_000 * PATIENCE);
      assert.equal(kubelet.exitCode, 0);
    } finally {
      await kubelet.end("SIGKILL");
      await cri.stop();
      await removeCgroups(CGROUP);
    }
  });
});

const POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p" },
  spec: { containers: [{ name: "c", image: "nodelet.local/busybox:1", imagePullPolicy: "Never" }] },
};
