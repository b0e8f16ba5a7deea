// Labels with which volumes are mounted, and the metrics of them.
// @promise Volumes: A persistent volume is mounted with one SELinux label where plugin and access mode allow it; pods
//   and containers with another label do not share it.
// @with test/main/volumes/fc/fc-disk.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  contextOption,
  keepsLabels,
  SELinuxMounts,
  type LabelledVolume,
} from "../../../src/main/volumes/se-linux-mounts.js";
import { ThreadRegistry } from "../../../src/shared/telemetry/metrics/thread-registry.js";
import { podOf } from "../../support/csi/kit.js";

const FILES = { user: "system_u", role: "object_r", type: "container_file_t" };
const LABEL = "system_u:object_r:container_file_t:s0:c1,c2";

type Asked = Omit<LabelledVolume, "pod">;
const asked: Asked = {
  plugin: "kubernetes.io/fc",
  supported: true,
  accessModes: ["ReadWriteOncePod"],
  volume: "data",
};
const withLevel = (level: string, uid = "u") => podOf(uid, { seLinuxOptions: { level } });

function mounts(everyMode = false, files = FILES) {
  const registry = new ThreadRegistry("t");
  const made = new SELinuxMounts(files, everyMode, registry);
  const counted = async (): Promise<string[]> => {
    const { families } = await registry.exportSnapshot();
    return families.flatMap(({ name, samples }) =>
      samples.map(
        ({ labels, value }) =>
          `${name.slice("volume_manager_selinux_".length)} ${Object.values(labels).join(" ")} ${value}`,
      ),
    );
  };
  return { made, counted };
}
/** Returns the mount context of a volume that no other pod has. */
const context = (more: Partial<LabelledVolume>, everyMode = false): string | undefined =>
  mounts(everyMode).made.claim("v", "u/v", { ...asked, pod: withLevel("s0:c1,c2"), ...more });

test("files of a volume are relabelled only where the file system has a label per file", () => {
  const table = (...superOptions: string[][]) => superOptions.map((options) => ({ superOptions: options }));
  assert.ok(keepsLabels(table(["rw", "seclabel"])));
  assert.ok(keepsLabels(table(["rw"], ["rw", "seclabel"])));
  assert.ok(!keepsLabels(table(["rw", "seclabel"], ["rw", 'context="system_u:object_r:container_file_t:s0"'])));
  assert.ok(!keepsLabels([]));
});

test("the role and type of a label are the policy's", () => {
  const pod = podOf("u", { seLinuxOptions: { level: "s0:c1", type: "container_t", role: "r", user: "u" } });
  const { made } = mounts(false, { user: "x_u", role: "x_r", type: "x_file_t" });
  assert.equal(made.claim("v", "u/v", { ...asked, pod }), "u:x_r:x_file_t:s0:c1");
  assert.deepEqual(contextOption("u:x_r:x_file_t:s0:c1,c2"), ['context="u:x_r:x_file_t:s0:c1,c2"']);
});

test("a volume is mounted with a label only where plugin, mode and pod allow it", () => {
  assert.equal(context({}), LABEL);
  assert.equal(context({ supported: false }), undefined);
  assert.equal(context({ accessModes: ["ReadWriteOnce"] }), undefined);
  assert.equal(context({ accessModes: ["ReadWriteOnce"] }, true), LABEL);
  assert.equal(context({ accessModes: ["ReadWriteOncePod", "ReadWriteOnce"] }), undefined);
  assert.equal(context({ accessModes: [] }, true), undefined, "a volume that the pod names itself");
  assert.equal(context({ pod: podOf("u") }), undefined);
  const recursive = podOf("u", { seLinuxOptions: { level: "s0" }, seLinuxChangePolicy: "Recursive" });
  assert.equal(context({ pod: recursive }), undefined);
});

const container = (name: string, level: string, volume: string) => ({
  ...{ name, volumeMounts: [{ name: volume, mountPath: "/v" }] },
  securityContext: { seLinuxOptions: { level } },
});
const withContainers = (...containers: ReturnType<typeof container>[]) => {
  const pod = withLevel("s0:c1");
  return { ...pod, spec: { ...pod.spec, containers } };
};

test("a container's own label counts, of those that have the volume", () => {
  const pod = withContainers(container("a", "s0:c2", "data"), container("b", "s0:c3", "other"));
  assert.equal(context({ pod }), "system_u:object_r:container_file_t:s0:c2");
});

test("containers with two labels cannot share a volume that is mounted with one; other volumes they may, which is counted", async () => {
  const pod = withContainers(container("a", "s0:c2", "data"), container("b", "s0:c3", "data"));
  const { made, counted } = mounts();
  const claim = (accessModes: string[]) => made.claim("v", "u/v", { ...asked, accessModes, pod });
  assert.throws(() => claim(["ReadWriteOncePod"]), { name: "VolumeError" });
  assert.equal(claim(["ReadWriteMany", "ReadWriteOnce"]), undefined);
  assert.deepEqual(await counted(), [
    "pod_context_mismatch_errors_total RWOP 1",
    "pod_context_mismatch_warnings_total RWX 1",
  ]);
});

test("a pod with another label waits until the pods with the volume are removed", async () => {
  const { made, counted } = mounts(true);
  const claim = (uid: string, level: string) =>
    made.claim("v", `${uid}/v`, { ...asked, accessModes: ["ReadWriteMany"], pod: withLevel(level, uid) });
  assert.equal(claim("one", "s0:c1,c2"), LABEL);
  assert.equal(claim("one", "s0:c1,c2"), LABEL);
  assert.equal(claim("two", "s0:c1,c2"), LABEL);
  assert.throws(() => claim("three", "s0:c9"), /conflicting SELinux labels of volume v: ".*:s0:c1,c2" and ".*:s0:c9"/);
  made.release("one/v");
  assert.throws(() => claim("three", "s0:c9"), { name: "VolumeError" });
  made.release("two/v");
  assert.equal(claim("three", "s0:c9"), "system_u:object_r:container_file_t:s0:c9");
  assert.deepEqual(await counted(), [
    "volume_context_mismatch_errors_total kubernetes.io/fc RWX 2",
    "volumes_admitted_total kubernetes.io/fc RWX 2",
  ]);
});

test("a volume that is not mounted with a label may have pods with two, which is counted", async () => {
  const { made, counted } = mounts();
  const claim = (uid: string, level: string) =>
    made.claim("v", `${uid}/v`, { ...asked, accessModes: ["ReadWriteOnce"], pod: withLevel(level, uid) });
  assert.equal(claim("one", "s0:c1"), undefined);
  assert.equal(claim("two", "s0:c2"), undefined);
  assert.deepEqual(await counted(), [
    "volume_context_mismatch_warnings_total kubernetes.io/fc RWO 1",
    "volumes_admitted_total kubernetes.io/fc RWO 1",
  ]);
});
