// Several managers' grants as one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { joinGrants } from "../../../../src/main/resources/managers/join-grants.js";

const mount = (containerPath: string) => ({
  ...{ containerPath, hostPath: "/x", readonly: true, selinuxRelabel: false, propagation: 0, uidMappings: [] },
  ...{ gidMappings: [], recursiveReadOnly: false, image: undefined, imageSubPath: "" },
});
const device = { containerPath: "/dev/a", hostPath: "/dev/a", permissions: "rw" };

test("none and one", () => {
  assert.deepEqual(joinGrants([]), {});
  assert.deepEqual(joinGrants([{ cpus: "0" }]), { cpus: "0" });
  assert.deepEqual(joinGrants([{}, {}]), {});
});

test("each brings its part; of what two name the first wins", () => {
  const devices = {
    env: [{ name: "A", value: "1" }],
    mounts: [mount("/lib")],
    devices: [device],
    annotations: { k: "devices" },
    cdiDevices: ["v.com/c=a"],
  };
  const other = {
    env: [
      { name: "A", value: "2" },
      { name: "B", value: "3" },
    ],
    annotations: { k: "x", l: "y" },
  };
  assert.deepEqual(joinGrants([devices, { cpus: "1-2", noCpuQuota: true }, { memoryNodes: "0", ...other }]), {
    cpus: "1-2",
    memoryNodes: "0",
    noCpuQuota: true,
    env: [
      { name: "A", value: "1" },
      { name: "B", value: "3" },
    ],
    mounts: [mount("/lib")],
    devices: [device],
    annotations: { k: "devices", l: "y" },
    cdiDevices: ["v.com/c=a"],
  });
});
