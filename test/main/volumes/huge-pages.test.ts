import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { test } from "node:test";
import { hugePageSize, isHugePages } from "../../../src/main/volumes/empty-dir/huge-pages.js";
import { emptyDirPlugin } from "../../../src/main/volumes/empty-dir/plugin.js";
import { UnsupportedVolumeError, VolumeSetUpError } from "../../../src/main/volumes/errors.js";
import { parseMountinfo } from "../../../src/shared/io/fs/mountinfo.js";
import type { Pod } from "../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { hostPathOf, isRoot, manager, mountsBelow, never, options, podWith, temporaryRoot } from "./temporary-root.js";

const MIB = 1024n ** 2n;
const asking = (...sizes: string[]): Pod =>
  podWith([], {
    containers: sizes.map((size) => ({ name: size, resources: { limits: { [`hugepages-${size}`]: "4Mi" } } })),
  });

const podAsking = (podSize: string, ...sizes: string[]): Pod => {
  const pod = asking(...sizes);
  pod.spec.resources = { limits: { [`hugepages-${podSize}`]: "4Mi" } };
  return pod;
};

test("the page size is the named one, or the only requested one", () => {
  const table: [Pod, string, bigint | RegExp][] = [
    [asking("2Mi"), "HugePages", 2n * MIB],
    [asking("2Mi", "2Mi"), "HugePages", 2n * MIB],
    [asking("2Mi"), "HugePages-2Mi", 2n * MIB],
    [asking("2Mi", "1Gi"), "HugePages-1Gi", 1024n * MIB],
    [asking("2Mi", "1Gi"), "HugePages", /several page sizes/],
    [podAsking("2Mi"), "HugePages", 2n * MIB],
    [podAsking("1Gi", "2Mi"), "HugePages-1Gi", 1024n * MIB],
    [podAsking("1Gi", "2Mi"), "HugePages", /several page sizes/],
    [asking(), "HugePages", /the pod requests no huge pages/],
    [asking("2Mi"), "HugePages-1Gi", /the pod requests no hugepages-1Gi/],
    [asking("2Mi"), "HugePages-big", /big is no page size/],
  ];
  for (const [pod, medium, expected] of table) {
    const size = hugePageSize(pod, medium);
    if (typeof expected === "bigint") assert.deepEqual(size, { bytes: expected }, medium);
    else assert.match("problem" in size ? size.problem : "", expected, medium);
  }
  assert.deepEqual(["HugePages", "HugePages-2Mi", "HugePagesX", "Memory", ""].map(isHugePages), [
    true,
    true,
    false,
    false,
    false,
  ]);
});

test("an unknown medium and pages that no container requests are reported by name", async (t) => {
  const root = await temporaryRoot(t);
  const plugin = emptyDirPlugin({ ...options(root), ownership: options(root) });
  const setUp = (medium: string) =>
    plugin.setUp({ pod: podWith([]), volume: { name: "v", emptyDir: { medium } }, signal: never });
  await assert.rejects(
    setUp("Tape"),
    (error) => error instanceof UnsupportedVolumeError && error.message.includes("Tape"),
  );
  await assert.rejects(
    setUp("HugePages"),
    (error) => error instanceof VolumeSetUpError && /requests no huge pages/.test(error.problem),
  );
});

const hugetlbfs = readFileSync("/proc/filesystems", "utf8").includes("hugetlbfs");
const skip = !isRoot ? "needs root" : !hugetlbfs ? "this kernel has no hugetlbfs" : false;

test("hugetlbfs with pages of that size, its mount record first, and removed with the pod", { skip }, async (t) => {
  const root = await temporaryRoot(t);
  const pod = asking("2Mi");
  pod.spec.volumes = [{ name: "huge", emptyDir: { medium: "HugePages-2Mi" } }];
  pod.spec.containers[0]!.volumeMounts = [{ name: "huge", mountPath: "/huge" }];
  pod.spec.securityContext = { fsGroup: 4321 };
  const directory = hostPathOf(await manager(root).setUpPod(pod, never), "huge");
  const [mounted] = parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8")).filter(
    ({ mountPoint }) => mountPoint === directory,
  );
  assert.equal(mounted?.fsType, "hugetlbfs");
  assert.ok(mounted.superOptions.includes("pagesize=2M"), mounted.superOptions.join());
  assert.equal(statSync(directory).mode & 0o7777, 0o2777);
  assert.equal(statSync(directory).gid, 4321);
  const note = readFileSync(`${root}/pods/uid-1/plugins/kubernetes.io~empty-dir/huge/mount.json`, "utf8");
  assert.deepEqual(JSON.parse(note), {
    version: 1,
    kind: "hugetlbfs",
    target: directory,
    pageSizeBytes: String(2n * MIB),
  });
  await manager(root).removePodDirectory(podUid("uid-1"));
  assert.deepEqual(mountsBelow(root), []);
});
