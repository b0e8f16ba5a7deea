import assert from "node:assert/strict";
import { test } from "node:test";
import { containerGrant } from "../../../../src/main/resources/devices/container-grant.js";
import { response } from "./kit.js";

test("nothing comes of nothing", () => {
  assert.deepEqual(containerGrant(new Map()), {});
  assert.deepEqual(containerGrant(new Map([["r", response()]])), {});
});

test("responses of several plugins are merged; the first by name wins a conflict", () => {
  const mount = { containerPath: "/m", hostPath: "/one", readOnly: true };
  const device = { containerPath: "/dev/x", hostPath: "/dev/one", permissions: "rw" };
  const grant = containerGrant(
    new Map([
      [
        "b.com/second",
        response({
          envs: { SAME: "2", TWO: "2" },
          mounts: [{ ...mount, hostPath: "/two" }],
          devices: [{ ...device, hostPath: "/dev/two" }],
          annotations: { same: "2", two: "2" },
          cdiDevices: [{ name: "v/c=1" }, { name: "v/c=2" }],
        }),
      ],
      [
        "a.com/first",
        response({
          envs: { SAME: "1" },
          mounts: [mount],
          devices: [device],
          annotations: { same: "1" },
          cdiDevices: [{ name: "v/c=1" }],
        }),
      ],
    ]),
  );
  assert.deepEqual(grant.env, [
    { name: "SAME", value: "1" },
    { name: "TWO", value: "2" },
  ]);
  assert.deepEqual(
    grant.mounts?.map(({ containerPath, hostPath, readonly }) => ({ containerPath, hostPath, readonly })),
    [{ containerPath: "/m", hostPath: "/one", readonly: true }],
  );
  assert.deepEqual(grant.devices, [device]);
  assert.deepEqual(grant.annotations, { same: "1", two: "2" });
  assert.deepEqual(grant.cdiDevices, ["v/c=1", "v/c=2"]);
});
