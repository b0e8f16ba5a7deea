import assert from "node:assert/strict";
import { test } from "node:test";
import { mountsWithin, parseMountinfo } from "../../../../src/shared/io/fs/mountinfo.js";
import { detectCgroupMounts } from "../../../../src/shared/node/cgroup/mounts.js";

const PROC_CGROUPS = `#subsys_name	hierarchy	num_cgroups	enabled
cpuset	3	1	1
cpu	1	1	1
cpuacct	1	1	1
memory	4	13	1
pids	8	1	1
hugetlb	0	1	1
`;

const V1_LINES = `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset,clone_children
35 31 0:32 /process_api/9 /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
39 31 0:36 / /sys/fs/cgroup/pids rw,relatime shared:10 master:2 - cgroup cgroup rw,pids
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,release_agent=/lib/systemd/agent,name=systemd
`;

const names = (text: string, cgroups = PROC_CGROUPS): string[] => {
  const mounts = detectCgroupMounts(text, cgroups);
  return mounts.version === 2
    ? [mounts.mountPoint]
    : mounts.hierarchies.map(({ controllers }) => controllers.join("+"));
};

test("v1 only: one hierarchy per mount, co-mounted controllers together, named ones kept", () => {
  assert.deepEqual(names(V1_LINES), ["cpu+cpuacct", "cpuset", "memory", "pids", "name=systemd"]);
  const mounts = detectCgroupMounts(V1_LINES, PROC_CGROUPS);
  assert.ok(mounts.version === 1 && mounts.unified === undefined);
  assert.deepEqual(mounts.hierarchies[2], {
    controllers: ["memory"],
    mountPoint: "/sys/fs/cgroup/memory",
    root: "/process_api/9",
  });
});

test("hybrid counts as v1 and names the v2 tree beside it", () => {
  const mounts = detectCgroupMounts(
    `${V1_LINES}41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n`,
    PROC_CGROUPS,
  );
  assert.ok(mounts.version === 1);
  assert.equal(mounts.unified?.mountPoint, "/sys/fs/cgroup/unified");
});

test("a mount of cgroup2 alone is version 2", () => {
  assert.deepEqual(names("30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"), [
    "/sys/fs/cgroup",
  ]);
});

test("v2 with a named v1 hierarchy is v2 at every mount point", () => {
  const named = "40 31 0:37 / /run/cg/systemd rw - cgroup cgroup rw,name=systemd\n";
  assert.deepEqual(names(`${named}30 23 0:26 / /mnt/cg2 rw - cgroup2 none rw\n`), ["/mnt/cg2"]);
});

test("a hierarchy mounted twice is used once, at the usual place", () => {
  const text = `90 1 0:36 / /mnt/pids rw - cgroup cgroup rw,pids\n${V1_LINES}`;
  assert.deepEqual(
    names(text).filter((name) => name === "pids"),
    ["pids"],
  );
  const mounts = detectCgroupMounts(text, PROC_CGROUPS);
  assert.ok(mounts.version === 1 && mounts.hierarchies.some(({ mountPoint }) => mountPoint === "/sys/fs/cgroup/pids"));
});

test("a disabled controller's mount is not used; without /proc/cgroups every mount is", () => {
  const disabled = PROC_CGROUPS.replace("pids	8	1	1", "pids	8	1	0");
  assert.ok(!names(V1_LINES, disabled).includes("pids"));
  assert.ok(names(V1_LINES, "").includes("pids"));
});

test("no cgroups, or v1 without memory, is one clear error", () => {
  assert.throws(() => names("27 1 254:0 / / rw - ext4 /dev/vda rw\n"), { name: "OperatorError" });
  const without = V1_LINES.split("\n")
    .filter((line) => !line.endsWith(",memory"))
    .join("\n");
  assert.throws(() => names(without), { name: "OperatorError", message: /memory/ });
});

test("mountinfo: escapes, optional fields, garbage; mounts within a directory come deepest first", () => {
  const mounts = parseMountinfo(
    "1 0 8:1 / / rw shared:1 - ext4 /dev/a rw\n2 1 8:1 /x /a\\040b/\\303\\244 rw - ext4 /dev/a rw\ngarbage\n\n3 1 0:9 / /a\\040b rw - tmpfs tmpfs rw\n4 1 0:9 / /a\\040bc rw - tmpfs tmpfs rw",
  );
  assert.deepEqual(
    mounts.map(({ mountPoint }) => mountPoint),
    ["/", "/a b/ä", "/a b", "/a bc"],
  );
  assert.deepEqual(
    mountsWithin(mounts, "/a b").map(({ id }) => id),
    [2, 3],
  );
});
