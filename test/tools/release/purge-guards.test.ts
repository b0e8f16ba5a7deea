// The shell functions that guard a purge: which pods still run, by the runtime or the kernel, and when the pod network
// is removed.

import { deepEqual, equal } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { writeNetwork } from "../../../src/cli/network/write-network.js";
import { REMOVE_NETWORK, RUNNING_PODS } from "../../../tools/install/purge-guards.js";

/** A machine of files and sockets, and of programs in place of the runtimes'. */
class Machine {
  private constructor(
    private readonly t: TestContext,
    readonly root: string,
  ) {}

  static async make(t: TestContext): Promise<Machine> {
    // Short: the path of a socket has 107 bytes.
    const root = await mkdtemp(join(tmpdir(), "np-"));
    t.after(() => rm(root, { recursive: true, force: true }));
    await mkdir(join(root, "bin"));
    return new Machine(t, root);
  }

  async put(path: string, text: string, mode = 0o644): Promise<void> {
    await mkdir(dirname(join(this.root, path)), { recursive: true });
    await writeFile(join(this.root, path), text, { mode });
  }

  program(name: string, lines: string): Promise<void> {
    return this.put(`bin/${name}`, `#!/bin/sh\n${lines}\n`, 0o755);
  }

  async socket(path: string): Promise<void> {
    await mkdir(dirname(join(this.root, path)), { recursive: true });
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(this.root, path), resolve));
    this.t.after(() => server.close());
  }

  shell(text: string): string[] {
    const env = { ...process.env, ROOT: this.root, PATH: `${join(this.root, "bin")}:${process.env["PATH"] ?? ""}` };
    const { stdout, status, stderr } = spawnSync("sh", ["-ec", text], { env, encoding: "utf8" });
    equal(status, 0, stderr);
    return stdout.split("\n").filter((line) => line !== "");
  }
}

const CTR = `case "$*" in
*"tasks list"*) echo "TASK PID STATUS"; echo "s1 12 RUNNING"; echo "c1 13 RUNNING"; echo "c2 0 STOPPED" ;;
*"containers info s1"*) printf '{ "Labels": {\\n "io.kubernetes.pod.name": "web-node1",\\n "io.kubernetes.pod.uid": "u" } }' ;;
*"containers info c1"*) printf '{ "Labels": {\\n "io.kubernetes.pod.name": "web-node1" } }' ;;
*) exit 1 ;;
esac`;

describe("pods that run are found", () => {
  const found = (machine: Machine): string[] => machine.shell(`${RUNNING_PODS}running_pods`);

  test("containerd's pods are found by ctr", async (t) => {
    const machine = await Machine.make(t);
    await machine.program("ctr", CTR);
    deepEqual(found(machine), [], "without its socket, containerd does not run");
    await machine.socket("run/containerd/containerd.sock");
    deepEqual(found(machine), ["web-node1"]);
  });

  test("CRI-O's pods are found by crictl", async (t) => {
    const machine = await Machine.make(t);
    await machine.socket("var/run/crio/crio.sock");
    const row = "0123456789abc       2 minutes ago       Ready               db-node1            default             0";
    await machine.program("crictl", `echo "POD ID   CREATED   STATE   NAME   NAMESPACE   ATTEMPT"; echo "${row}"`);
    deepEqual(found(machine), ["db-node1"]);
  });

  test("Docker's pods are found by docker", async (t) => {
    const machine = await Machine.make(t);
    await machine.socket("var/run/docker.sock");
    await machine.program("docker", "echo b-node1; echo a-node1; echo b-node1");
    deepEqual(found(machine), ["a-node1", "b-node1"]);
  });

  test("pods are found by their cgroups when no runtime responds", async (t) => {
    const machine = await Machine.make(t);
    await machine.socket("run/containerd/containerd.sock");
    await machine.program("ctr", "exit 1");
    await machine.put("sys/fs/cgroup/kubepods/besteffort/podu/c/cgroup.procs", "");
    deepEqual(found(machine), [], "empty cgroups are no pod");
    await machine.put("sys/fs/cgroup/kubepods/besteffort/podu/c/cgroup.procs", "4242\n");
    deepEqual(found(machine), [`(processes in ${machine.root}/sys/fs/cgroup/kubepods)`]);
  });

  test("pods are found by their cgroups of version 1", async (t) => {
    const machine = await Machine.make(t);
    await machine.put("sys/fs/cgroup/memory/kubepods.slice/cgroup.procs", "4242\n");
    deepEqual(found(machine), [`(processes in ${machine.root}/sys/fs/cgroup/memory/kubepods.slice)`]);
  });

  test("nowhere on an empty machine", async (t) => {
    deepEqual(found(await Machine.make(t)), []);
  });
});

describe("the pod network of the package", () => {
  async function written(t: TestContext): Promise<{ machine: Machine; file: string; remove: () => void }> {
    const machine = await Machine.make(t);
    const record = join(machine.root, "var/lib/kubelet/nodelet/network.sha256");
    const file = (await writeNetwork(join(machine.root, "net.d"), { range: { first: 0, length: 24 } }, record)) ?? "";
    return { machine, file, remove: () => void machine.shell(`${REMOVE_NETWORK}remove_network`) };
  }
  const isThere = (path: string): Promise<boolean> =>
    access(path).then(
      () => true,
      () => false,
    );

  test("is removed if its text is unchanged, and its folder stays", async (t) => {
    const { machine, file, remove } = await written(t);
    await machine.put("var/lib/cni/networks/nodelet/10.0.0.2", "id");
    remove();
    equal(await isThere(file), false);
    equal(await isThere(dirname(file)), true);
    equal(await isThere(join(machine.root, "var/lib/cni/networks/nodelet")), false);
    remove();
  });

  test("stays if it was changed", async (t) => {
    const { file, remove } = await written(t);
    await writeFile(file, `${await readFile(file, "utf8")}\n`);
    remove();
    equal(await isThere(file), true);
  });

  test("is no matter where it was never written", async (t) => {
    const machine = await Machine.make(t);
    deepEqual(machine.shell(`${REMOVE_NETWORK}remove_network`), []);
  });
});
