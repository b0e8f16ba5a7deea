// Containers that use a volume: found without reading all mounts of the pod for each of its volumes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { SELinuxMounts } from "../../../src/main/volumes/se-linux-mounts.js";
import { usersOfVolume } from "../../../src/main/volumes/volume-users.js";
import { ThreadRegistry } from "../../../src/shared/telemetry/metrics/thread-registry.js";
import { container, pod } from "../../support/pods.js";

test("users are named per volume, each once, in the order of containers, init and ephemeral containers", () => {
  const mount = (name: string, mountPath: string) => ({ name, mountPath });
  const { spec } = pod({
    containers: [
      container("a", { volumeMounts: [mount("data", "/1"), mount("data", "/2"), mount("other", "/3")] }),
      container("b", { volumeDevices: [{ name: "disk", devicePath: "/dev/x" }] }),
    ],
    initContainers: [container("c", { volumeMounts: [mount("data", "/1")] })],
  });
  const names = (volume: string): string[][] => {
    const { mounts, devices } = usersOfVolume(spec, volume);
    return [mounts.map(({ name }) => name), devices.map(({ name }) => name)];
  };
  assert.deepEqual(names("data"), [["a", "c"], []]);
  assert.deepEqual(names("disk"), [[], ["b"]]);
  assert.deepEqual(names("none"), [[], []]);
});

test("the labels of a thousand volumes read each mount once", () => {
  let read = 0;
  const volumes = Array.from({ length: 1000 }, (_, index) => `v${index}`);
  const volumeMounts = volumes.map((name) => ({
    get name() {
      read++;
      return name;
    },
    mountPath: `/${name}`,
  }));
  const one = pod({
    containers: [container("a", { volumeMounts })],
    securityContext: { seLinuxOptions: { level: "s0" } },
  });
  const files = { user: "system_u", role: "object_r", type: "container_file_t" };
  const mounts = new SELinuxMounts(files, true, new ThreadRegistry("t"));
  for (const volume of volumes) {
    const asked = { plugin: "p", supported: true, accessModes: ["ReadWriteMany"], pod: one, volume };
    const context = mounts.claim(volume, `uid/${volume}`, asked);
    assert.equal(context, "system_u:object_r:container_file_t:s0");
  }
  assert.equal(read, volumes.length);
});
