// Processes of containers that run after their grace period, by a folder in the place of /proc.

import { deepEqual, equal, match } from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Finding } from "../../../src/cli/why/input.js";
import { withUnkilled } from "../../../src/cli/why/unkilled.js";
import { containerStatus, pod, RUNNING } from "../kit.js";

const KUBELET = 7;
const FINDING: Finding = {
  ...{ severity: "error", about: "pod", what: "it is terminating", help: ["it sleeps for good", "another"] },
  unkilled: true,
};
const ID = "0123456789abcdef".repeat(4);
const ENDING = pod({
  phase: "Running",
  containerStatuses: [{ ...containerStatus(RUNNING), containerID: `containerd://${ID}` }],
});

interface Seen {
  state: string;
  cgroup: string;
  name?: string;
  wchan?: string;
}

async function machine(t: TestContext, processes: Readonly<Record<number, Seen>>): Promise<string> {
  const proc = await mkdtemp(join(tmpdir(), "nodelet-unkilled-"));
  t.after(() => rm(proc, { recursive: true, force: true }));
  for (const [pid, { state, cgroup, name = "sleep", wchan = "0" }] of Object.entries(processes)) {
    await mkdir(join(proc, pid));
    await writeFile(join(proc, pid, "stat"), `${pid} (${name}) ${state} 1 1 1`);
    await writeFile(join(proc, pid, "cgroup"), `0::${cgroup}\n`);
    await writeFile(join(proc, pid, "comm"), `${name}\n`);
    await writeFile(join(proc, pid, "wchan"), wchan);
  }
  return proc;
}

const SELF: Seen = { state: "S", cgroup: "/system.slice/kubelet.service", name: "node" };
const found = (proc: string, finding = FINDING): Promise<Finding> =>
  withUnkilled(ENDING, finding, { kubelet: KUBELET, proc });

test("without a process the runtime has lost the end of the container", async (t) => {
  const sandbox = { state: "S", cgroup: "/kubepods/poduid-1/another-container" };
  const { help, evidence } = await found(await machine(t, { [KUBELET]: SELF, 20: sandbox }));
  match(help[0] ?? "", /no process of it is left.*systemctl restart containerd/);
  deepEqual([help.slice(1), evidence], [["another"], undefined]);
});

test("a process that waits for its parent alone is none", async (t) => {
  const zombie = { state: "Z", cgroup: `/kubepods/poduid-1/${ID}` };
  const { help } = await found(await machine(t, { [KUBELET]: SELF, 20: zombie }));
  match(help[0] ?? "", /no process of it is left/);
});

test("a process in uninterruptible sleep is named, with what it waits for", async (t) => {
  const cgroup = `/kubepods/poduid-1/${ID}`;
  const processes = {
    [KUBELET]: SELF,
    20: { state: "S", cgroup },
    21: { state: "D", cgroup, name: "cp) R 1\u001b[1m", wchan: "nfs_wait_bit" },
  };
  const { help, evidence } = await found(await machine(t, processes));
  equal(help[0], "it sleeps for good");
  deepEqual(evidence, [
    {
      title: "what is left of it",
      lines: ["the process cp) R 1 (pid 21), state D, waits in nfs_wait_bit"],
    },
  ]);
});

test("processes that are alive are the runtime's matter", async (t) => {
  const alive = { state: "S", cgroup: `/kubepods/poduid-1/${ID}` };
  const { help, evidence } = await found(await machine(t, { [KUBELET]: SELF, 20: alive }));
  match(help[0] ?? "", /its processes are alive.*journalctl -u containerd/);
  equal(evidence?.[0]?.lines[0], "the process sleep (pid 20), state S");
});

test("where the kubelet is not seen, and for other findings, nothing is added", async (t) => {
  equal(await found(await machine(t, {})), FINDING);
  const other = { ...FINDING, unkilled: undefined };
  equal(await found(await machine(t, { [KUBELET]: SELF }), other), other);
});
