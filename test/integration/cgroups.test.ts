// The cgroup manager on this machine's own cgroups, under a root of the test's own.
// @promise Resources of the node: 1,000 orphaned cgroups at start are removed one at a time; a new pod does not wait
//   for them.
// @with test/integration/cgroup-limits.test.ts

import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, rmdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
  createCgroupManager,
  type CgroupManager,
  type CgroupManagerOptions,
} from "../../src/main/resources/cgroups/cgroup-manager.js";
import { CgroupTreeV2 } from "../../src/main/resources/cgroups/cgroup-v2.js";
import { OrphanCgroups } from "../../src/main/resources/cgroups/orphan-cgroups.js";
import { ProcessPlacement } from "../../src/main/resources/cgroups/process-placement.js";
import { systemdUnits, type SystemdUnits } from "../../src/main/resources/cgroups/systemd/systemd-units.js";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import { OperatorError } from "../../src/shared/base/errors/operator-error.js";
import { podUid } from "../../src/shared/kubernetes/identifiers.js";
import { readCgroupMounts, type CgroupMounts } from "../../src/shared/node/cgroup/mounts.js";
import { container, pod } from "../main/resources/pods.js";
import { FakeSystemd } from "../support/fake-systemd.js";
import { silentLog } from "../support/silent.js";

const MIB = 1024n ** 2n;
const ROOT = `nodelet-test-${process.pid}`;
const mounts = await readCgroupMounts();
const writable = process.getuid?.() === 0;

function manager(change: Partial<CgroupManagerOptions> = {}): CgroupManager {
  return createCgroupManager({
    pageSize: 4096n,
    cgroupRoot: `/${ROOT}`,
    driver: "cgroupfs",
    cgroupsPerQOS: true,
    podPidsLimit: 64n,
    cpuCFSQuota: true,
    mounts,
    log: silentLog,
    clock: systemClock,
    ...change,
  });
}

/** Directory of a cgroup below the test's root for one controller. */
function at(controller: string, path: string): string {
  return `${mountPoint(controller)}/${ROOT}/${path}`;
}

function mountPoint(controller: string): string {
  const base =
    mounts.version === 2
      ? mounts.mountPoint
      : mounts.hierarchies.find(({ controllers }) => controllers.includes(controller))?.mountPoint;
  assert.ok(base !== undefined, `no ${controller} hierarchy`);
  return base;
}

const read = (path: string): string => readFileSync(path, "utf8").trim();
/** A file's text on v1 or on v2. */
function value(controller: string, path: string, v1: string, v2: string): string {
  return read(`${at(controller, path)}/${mounts.version === 2 ? v2 : v1}`);
}

async function sleeperIn(...directories: string[]): Promise<ChildProcess> {
  const child = spawn("sleep", ["1000"], { stdio: "ignore" });
  await once(child, "spawn");
  for (const directory of directories) await writeFile(`${directory}/cgroup.procs`, String(child.pid));
  return child;
}

describe("cgroup manager", { skip: writable ? false : "needs root" }, () => {
  const cgroups = manager();
  before(() => cgroups.setUp());
  after(() => cgroups.tearDown());

  test("set-up creates the QoS cgroups in every hierarchy; a second call changes nothing", async () => {
    await cgroups.setUp();
    assert.equal(value("cpu", "kubepods/besteffort", "cpu.shares", "cpu.weight"), mounts.version === 2 ? "1" : "2");
    for (const controller of ["cpu", "memory", "pids"]) assert.ok(existsSync(at(controller, "kubepods/burstable")));
  });

  test("a pod's cgroup has its values, again and after a restart of the kubelet", async () => {
    const subject = pod([container("a", { cpu: "500m" }, { cpu: "1", memory: "10000000" })], {}, "values-1");
    const made = await cgroups.ensurePod(subject);
    assert.equal(made.criParent, `/${ROOT}/kubepods/burstable/podvalues-1`);
    assert.ok(made.watchDirs.length > 0 && made.watchDirs.every((directory) => existsSync(directory)));
    const check = (): void => {
      const path = "kubepods/burstable/podvalues-1";
      assert.equal(value("cpu", path, "cpu.shares", "cpu.weight"), mounts.version === 2 ? "20" : "512");
      assert.equal(value("cpu", path, "cpu.cfs_quota_us", "cpu.max").split(" ")[0], "100000");
      assert.equal(value("memory", path, "memory.limit_in_bytes", "memory.max"), "9998336");
      assert.equal(value("pids", path, "pids.max", "pids.max"), "64");
    };
    check();
    await cgroups.ensurePod(subject);
    if (mounts.version === 1) await writeFile(`${at("cpu", "kubepods/burstable/podvalues-1")}/cpu.shares`, "77");
    await manager().ensurePod(subject);
    check();
    await cgroups.removePod(podUid("values-1"));
  });

  test("each class has its place, pods are listed, found and removed from any", async () => {
    const both = { cpu: "1", memory: "8Mi" };
    await cgroups.ensurePod(pod([container("a")], {}, "be-1"));
    await cgroups.ensurePod(pod([container("a", { cpu: 1 })], {}, "bu-1"));
    await cgroups.ensurePod(pod([container("a", both, both)], {}, "gu-1"));
    assert.ok(existsSync(at("cpu", "kubepods/podgu-1")));
    assert.ok(existsSync(at("cpu", "kubepods/besteffort/podbe-1")));
    assert.deepEqual((await cgroups.listPods()).sort(), ["be-1", "bu-1", "gu-1"]);
    for (const uid of ["be-1", "bu-1", "gu-1"]) {
      assert.ok(await cgroups.podExists(podUid(uid)));
      await manager().removePod(podUid(uid));
      assert.ok(!(await cgroups.podExists(podUid(uid))));
      await cgroups.removePod(podUid(uid));
    }
    assert.deepEqual(await cgroups.listPods(), []);
  });

  test("a cgroup removed behind the kubelet's back is made again, its parents too", async () => {
    const subject = pod([container("a")], {}, "again-1");
    await cgroups.ensurePod(subject);
    for (const { directory } of await trees("kubepods/besteffort")) {
      await rmdir(`${directory}/podagain-1`);
      await rmdir(directory);
    }
    await cgroups.ensurePod(subject);
    assert.ok(await cgroups.podExists(podUid("again-1")));
    await cgroups.removePod(podUid("again-1"));
  });

  test("removal kills the processes inside, in nested cgroups and frozen", async () => {
    const made = await cgroups.ensurePod(pod([container("a")], {}, "busy-1"));
    const nested = made.watchDirs
      .filter((directory) => !directory.includes("/cpuset/"))
      .map((directory) => `${directory}/inner`);
    for (const directory of nested) await mkdir(directory);
    const child = await sleeperIn(...nested);
    const exited = once(child, "exit");
    if (mounts.version === 1) {
      await writeFile(`${at("freezer", "kubepods/besteffort/podbusy-1/inner")}/freezer.state`, "FROZEN");
    }
    await cgroups.removePod(podUid("busy-1"));
    assert.equal((await exited)[1], "SIGKILL");
    assert.ok(!(await cgroups.podExists(podUid("busy-1"))));
  });

  const unified = mounts.version === 1 ? mounts.unified?.mountPoint : undefined;
  test(
    "what a runtime leaves in the v2 tree of a hybrid machine goes too",
    { skip: unified === undefined },
    async () => {
      const left = `${unified ?? ""}/${ROOT}/kubepods/besteffort/podleft-1`;
      await cgroups.ensurePod(pod([container("a")], {}, "left-1"));
      await mkdir(left, { recursive: true });
      await cgroups.removePod(podUid("left-1"));
      assert.ok(!existsSync(left));
      await mkdir(left);
      assert.deepEqual(await cgroups.listPods(), ["left-1"], "found even if only there");
      await cgroups.removePod(podUid("left-1"));
    },
  );

  test("burstable shares follow the pods", async () => {
    await cgroups.updateQos([
      pod([container("a", { cpu: 1 })]),
      pod([container("b", { cpu: "500m" })]),
      pod([container("c")]),
    ]);
    assert.equal(value("cpu", "kubepods/burstable", "cpu.shares", "cpu.weight"), mounts.version === 2 ? "59" : "1536");
    await cgroups.updateQos([]);
    assert.equal(value("cpu", "kubepods/burstable", "cpu.shares", "cpu.weight"), mounts.version === 2 ? "1" : "2");
  });

  test(
    "processes can be placed in a pod's cgroup: its cpuset is not empty",
    { skip: mounts.version === 2 },
    async () => {
      await cgroups.ensurePod(pod([container("a")], {}, "cpuset-1"));
      const child = await sleeperIn(at("cpuset", "kubepods/besteffort/podcpuset-1"));
      await cgroups.removePod(podUid("cpuset-1"));
      assert.equal(child.exitCode ?? child.signalCode ?? (await once(child, "exit"))[1], "SIGKILL");
    },
  );

  test("a UID that is a path is refused before anything is touched", async () => {
    await assert.rejects(cgroups.removePod(podUid("../../x")), { name: "OperatorError" });
    await assert.rejects(cgroups.ensurePod(pod([container("a")], {}, "../x")), { name: "OperatorError" });
  });

  test("without QoS cgroups containers go to the root and no pod cgroup is made", async () => {
    const flat = manager({ cgroupsPerQOS: false });
    const made = await flat.ensurePod(pod([container("a")], {}, "flat-1"));
    assert.equal(made.criParent, `/${ROOT}`);
    await flat.removePod(podUid("flat-1"));
    assert.ok(existsSync(at("cpu", "kubepods")));
  });
});

describe("limits, tiers and orphans on this machine's cgroups", { skip: writable ? false : "needs root" }, () => {
  const root = `/${ROOT}-2`;
  const operations: string[] = [];
  const reserved = { percent: 100, allocatableBytes: 1024n * MIB };
  const make = (change: Partial<CgroupManagerOptions> = {}): CgroupManager =>
    manager({ cgroupRoot: root, reserved, onOperation: (operation) => operations.push(operation), ...change });
  const cgroups = make();
  const folder = (controller: string, path: string): string => `${mountPoint(controller)}${root}/${path}`;
  const text = (controller: string, path: string, v1: string, v2: string): string =>
    read(`${folder(controller, path)}/${mounts.version === 2 ? v2 : v1}`);
  const memoryOf = (path: string): string => text("memory", path, "memory.limit_in_bytes", "memory.max");
  before(() => cgroups.setUp());
  after(() => cgroups.tearDown());

  test("kubepods is limited to the capacity without reserved resources", async () => {
    await cgroups.limitPods({ cpuShares: 512n, memoryBytes: 2048n * MIB, pids: 500n });
    assert.equal(text("cpu", "kubepods", "cpu.shares", "cpu.weight"), mounts.version === 2 ? "20" : "512");
    assert.equal(memoryOf("kubepods"), String(2048n * MIB));
    assert.equal(text("pids", "kubepods", "pids.max", "pids.max"), "500");
    assert.equal(operations.at(-1), "update");
  });

  test("an existing cgroup gets values, the error names a missing one, and none is created", async () => {
    const theirs = `${root}/theirs`;
    await assert.rejects(cgroups.limitExisting(theirs, { cpuShares: 100n }), (error) => {
      assert.ok(error instanceof OperatorError);
      assert.ok(error.message.includes(`${mountPoint("memory")}${theirs}`), error.message);
      return true;
    });
    assert.ok(!existsSync(folder("cpu", "theirs")));
    const core = new Set(["cpu", "cpuset", "memory", "pids"].map((controller) => folder(controller, "theirs")));
    for (const each of core) await mkdir(each);
    try {
      await cgroups.limitExisting(theirs, { cpuShares: 512n, pids: 33n });
      assert.equal(text("cpu", "theirs", "cpu.shares", "cpu.weight"), mounts.version === 2 ? "20" : "512");
      assert.equal(text("pids", "theirs", "pids.max", "pids.max"), "33");
      if (mounts.version === 1) assert.ok(!existsSync(folder("freezer", "theirs")), "only values are written");
    } finally {
      for (const each of core) await rmdir(each);
    }
  });

  test("qosReserved holds the tiers; without it, a kubelet later, they are free again", async () => {
    const guaranteed = { cpu: 1, memory: "100Mi" };
    await cgroups.updateQos([
      pod([container("a", guaranteed, guaranteed)]),
      pod([container("b", { memory: "24Mi", cpu: 1 })]),
    ]);
    assert.equal(memoryOf("kubepods/burstable"), String(924n * MIB));
    assert.equal(memoryOf("kubepods/besteffort"), String(900n * MIB));
    const later = manager({ cgroupRoot: root });
    await later.setUp();
    for (const tier of ["burstable", "besteffort"]) {
      const limit = memoryOf(`kubepods/${tier}`);
      assert.ok(limit === "max" || Number(limit) > 2 ** 60, limit);
    }
    // The next update corrects values that another process changed.
    if (mounts.version === 1) await writeFile(`${folder("cpu", "kubepods/burstable")}/cpu.shares`, "77");
    const shares = (): string => text("cpu", "kubepods/burstable", "cpu.shares", "cpu.weight");
    const running = [pod([container("b", { cpu: 1 })])];
    await later.updateQos(running, true);
    assert.equal(shares(), mounts.version === 2 ? "39" : "1024");
    const file = mounts.version === 2 ? "cpu.weight" : "cpu.shares";
    await writeFile(`${folder("cpu", "kubepods/burstable")}/${file}`, "77");
    await later.updateQos(running, true);
    assert.equal(shares(), "77", "it has set them already");
    await later.updateQos(running);
    assert.equal(shares(), mounts.version === 2 ? "39" : "1024");
  });

  test("a pod that is not in its tier is lost; one spelt by the other driver is not", async () => {
    const subject = pod([container("a")], {}, "lost-1");
    assert.ok(await cgroups.isLost(subject));
    await cgroups.ensurePod(subject);
    assert.ok(!(await cgroups.isLost(subject)));
    assert.ok(!(await make({ driver: "systemd" }).isLost(subject)), "cgroupfs spelling counts");
    await rmdir(folder("memory", "kubepods/besteffort/podlost-1"));
    assert.ok(await cgroups.isLost(subject), "nothing holds its memory");
    assert.ok(!(await make({ cgroupsPerQOS: false }).isLost(subject)));
    await cgroups.removePod(podUid("lost-1"));
  });

  test("the end of a pod looks only where it was; an adopted one's place is found", async () => {
    await cgroups.ensurePod(pod([container("a")], {}, "tier-1"));
    const elsewhere = folder("cpu", "kubepods/podtier-1");
    await mkdir(elsewhere);
    await cgroups.removePod(podUid("tier-1"));
    assert.ok(!existsSync(folder("cpu", "kubepods/besteffort/podtier-1")) && existsSync(elsewhere));
    assert.deepEqual(await cgroups.listPods(), ["tier-1"], "what lies elsewhere is found");
    await cgroups.removePod(podUid("tier-1"));
    assert.ok(!existsSync(elsewhere));
    assert.equal(operations.at(-1), "destroy");
  });

  test("a pod that returns while its cgroup is being removed gets a new one", async () => {
    const subject = pod([container("a")], {}, "again-2");
    await cgroups.ensurePod(subject);
    const removal = cgroups.removePod(podUid("again-2"));
    await cgroups.ensurePod(subject);
    await removal;
    assert.ok(await cgroups.podExists(podUid("again-2")));
    await cgroups.removePod(podUid("again-2"));
  });

  test("a thousand orphaned cgroups are removed, and a new pod does not wait for them", async () => {
    const uids = Array.from({ length: 1000 }, (_, n) => `orphan-${n}`);
    const everywhere =
      mounts.version === 2 ? [mounts.mountPoint] : mounts.hierarchies.map(({ mountPoint: point }) => point);
    for (const uid of uids) {
      await Promise.all(everywhere.map((point) => mkdir(`${point}${root}/kubepods/besteffort/pod${uid}`)));
    }
    const next = make();
    let removed = 0;
    const counting = {
      removePod: async (uid: string) => {
        await next.removePod(podUid(uid));
        removed++;
      },
    };
    const orphans = new OrphanCgroups({
      cgroups: counting,
      isKnown: () => false,
      log: silentLog,
    });
    orphans.add(await next.listPods());
    await next.ensurePod(pod([container("a")], {}, "fresh-1"));
    assert.ok(removed < 500, `the pod's cgroup was made while most orphans were there: ${removed} were removed`);
    await orphans.idle();
    assert.deepEqual(await next.listPods(), ["fresh-1"]);
    await next.removePod(podUid("fresh-1"));
  });

  test("the configured processes are moved into the configured cgroups, and no others", async () => {
    const strays = `${ROOT}-2/strays`;
    const core = mounts.version === 2 ? [mounts.mountPoint] : mounts.hierarchies.map(({ mountPoint: point }) => point);
    const [agent, other] = [
      spawn("sleep", ["1000"], { stdio: "ignore" }),
      spawn("sleep", ["1000"], { stdio: "ignore" }),
    ];
    await Promise.all([once(agent, "spawn"), once(other, "spawn")]);
    const placeOf = (child: ChildProcess): string | undefined =>
      /^\d+:(?:[^:]*\bmemory\b[^:]*|):(.*)$/m.exec(read(`/proc/${child.pid}/cgroup`))?.[1];
    const before = placeOf(agent);
    const fields = { kubeletCgroups: `${root}/agent`, systemCgroups: `${root}/system`, mounts, pid: agent.pid ?? 0 };
    const log = silentLog;
    try {
      const inContainer = new ProcessPlacement({
        ...fields,
        systemCgroups: "",
        inHost: () => Promise.resolve(false),
        log,
      });
      await inContainer.ensure();
      assert.equal(placeOf(agent), before, "an agent in a container stays there");
      for (const point of core) {
        await mkdir(`${point}/${strays}`);
        if (point.endsWith("cpuset")) {
          for (const file of ["cpuset.cpus", "cpuset.mems"]) {
            await writeFile(`${point}/${strays}/${file}`, read(`${point}/${file}`));
          }
        }
        await writeFile(`${point}/${strays}/cgroup.procs`, String(other.pid));
      }
      const from = strays.split("/");
      const placement = new ProcessPlacement({ ...fields, from, inHost: () => Promise.resolve(true), log });
      for (let round = 0; round < 2; round++) {
        await placement.ensure();
        assert.equal(placeOf(agent), `${root}/agent`);
        assert.equal(placeOf(other), `${root}/system`);
      }
      assert.throws(() => new ProcessPlacement({ ...fields, systemCgroups: "/", log }), {
        name: "OperatorError",
      });
    } finally {
      const gone = [agent, other].map((child) => once(child, "exit"));
      for (const child of [agent, other]) child.kill("SIGKILL");
      await Promise.all(gone);
      for (const point of core) {
        for (const name of ["strays", "agent", "system"]) await rmdir(`${point}${root}/${name}`).catch(() => undefined);
      }
    }
  });
});

test("v2 tree on the machine's v2 hierarchy", { skip: v2MountPoint(mounts) === undefined || !writable }, async () => {
  const mountPoint = v2MountPoint(mounts) ?? "";
  const tree = new CgroupTreeV2(mountPoint, () => undefined, 4096n);
  const top = `${ROOT}-v2`;
  await tree.createParent([top], {});
  assert.equal(await tree.create([top, "none", "x"], {}), "missing-parent");
  await tree.create([top, "a"], { pids: 10n, cpuShares: 2n, hugePages: new Map([["2MB", 4n << 20n]]) });
  assert.ok(await tree.exists([top, "a"]));
  for (const file of ["hugetlb.2MB.max", "hugetlb.2MB.rsvd.max"]) {
    // Kernels without the hugetlb controller, or before 5.7, do not have the file.
    const path = `${mountPoint}/${top}/a/${file}`;
    if (existsSync(path)) assert.equal(read(path), "4194304", file);
  }
  const child = await sleeperIn(`${mountPoint}/${top}/a`);
  const exited = once(child, "exit");
  assert.deepEqual(await tree.processes([top]), [child.pid]);
  assert.equal(await tree.remove([top]), false);
  await tree.kill([top], [child.pid ?? 0]);
  assert.equal((await exited)[1], "SIGKILL");
  while (!(await tree.remove([top]))) await systemClock.sleep(5);
  assert.ok(!(await tree.exists([top])));
});

// Without systemd as process 1: the directories show what the kubelet does beside it, in hierarchies systemd leaves
// alone.
describe("the systemd driver on this machine's cgroups", { skip: writable ? false : "needs root" }, () => {
  const top = `nodelet_slices_${process.pid}`;
  let folder: string;
  let systemd: FakeSystemd;
  let units: SystemdUnits;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "nodelet-systemd-"));
    systemd = new FakeSystemd(join(folder, "private"));
    await systemd.listen();
    units = systemdUnits({
      clock: systemClock,
      log: silentLog,
      socketPath: systemd.socketPath,
    });
  });
  after(async () => {
    units.close();
    await systemd.die();
    await rm(folder, { recursive: true });
  });

  test("slices are in every hierarchy with their values; removal removes processes and units with them", async () => {
    const cgroups = manager({ driver: "systemd", cgroupRoot: `/${top}`, systemd: units });
    await cgroups.setUp();
    try {
      const subject = pod([container("a", { cpu: "500m" }, { cpu: "1", memory: "10000000" })], {}, "slice-1");
      const slice = `${top}-kubepods-burstable-podslice_1.slice`;
      const made = await cgroups.ensurePod(subject);
      assert.equal(made.criParent, slice);
      assert.ok(made.watchDirs.every((directory) => directory.endsWith(`/${slice}`) && existsSync(directory)));
      const path = `${top}.slice/${top}-kubepods.slice/${top}-kubepods-burstable.slice/${slice}`;
      const v2 = mounts.version === 2;
      const shown = (controller: string, file: string): string => read(`${mountPoint(controller)}/${path}/${file}`);
      assert.equal(shown("cpu", v2 ? "cpu.weight" : "cpu.shares"), v2 ? "20" : "512");
      assert.equal(shown("memory", v2 ? "memory.max" : "memory.limit_in_bytes"), "9998336");
      assert.equal(shown("pids", "pids.max"), "64");
      const asked = systemd.calls.length;
      await manager({ driver: "systemd", cgroupRoot: `/${top}`, systemd: units }).ensurePod(subject);
      assert.deepEqual(systemd.calls.slice(asked), [`GetUnit ${slice}`]);
      const child = await sleeperIn(...made.watchDirs.filter((directory) => !directory.includes("/cpuset/")));
      const exited = once(child, "exit");
      assert.deepEqual(await cgroups.listPods(), ["slice-1"]);
      await cgroups.removePod(podUid("slice-1"));
      assert.equal((await exited)[1], "SIGKILL");
      assert.ok(made.watchDirs.every((directory) => !existsSync(directory)));
      assert.ok(!systemd.units.has(slice));
    } finally {
      await cgroups.tearDown();
    }
    assert.ok(!existsSync(`${mountPoint("cpu")}/${top}.slice`));
  });
});

test("cgroups that cannot be made are one clear error", async () => {
  const readOnly: CgroupMounts = { version: 2, mountPoint: "/proc/1" };
  await assert.rejects(
    manager({ mounts: readOnly }).setUp(),
    (error) => error instanceof OperatorError && error.message.includes("/proc/1"),
  );
});

async function trees(path: string): Promise<{ directory: string }[]> {
  const points = mounts.version === 2 ? [mounts.mountPoint] : mounts.hierarchies.map(({ mountPoint }) => mountPoint);
  const found = points.map((point) => ({ directory: `${point}/${ROOT}/${path}` }));
  for (const { directory } of found) await readdir(directory);
  return found;
}

function v2MountPoint(found: CgroupMounts): string | undefined {
  return found.version === 2 ? found.mountPoint : found.unified?.mountPoint;
}
