// What the runtime's configuration says, and the kubelet's.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { fieldsIn, settingsOf } from "../../../src/cli/machine/kubelet-config.js";
import { configOf } from "../../../src/cli/runtime/effective-config.js";

test("the configuration file is that of the daemon's command line", () => {
  const rows: readonly (readonly [args: readonly string[], file: string | undefined])[] = [
    [["--config", "/a"], "/a"],
    [["--config=/a"], "/a"],
    [["-c", "/a"], "/a"],
    [["--config-file=/a", "-H", "unix:///x"], "/a"],
    [["--address", "/x"], undefined],
    [["--config"], undefined],
  ];
  for (const [args, file] of rows) equal(configOf(args), file, args.join(" "));
});

test("the settings of the kubelet have upstream's defaults", () => {
  deepEqual(settingsOf({}), {
    ...{ preventAPIReferences: true, staticPodPath: "", failCgroupV1: true, failSwapOn: true },
    ...{ cgroupDriver: "cgroupfs", runtimeEndpoint: undefined },
  });
  const fields = { failCgroupV1: false, failSwapOn: false, staticPodPath: "/m", containerRuntimeEndpoint: "unix:///x" };
  const driver = { cgroupDriver: "systemd" };
  deepEqual(settingsOf({ ...fields, ...driver, featureGates: { PreventStaticPodAPIReferences: false } }), {
    ...{ preventAPIReferences: false, staticPodPath: "/m", failCgroupV1: false, failSwapOn: false },
    ...{ cgroupDriver: "systemd", runtimeEndpoint: "unix:///x" },
  });
});

test("the file is read as the kubelet reads YAML; a text that is no YAML sets nothing", () => {
  deepEqual(fieldsIn("cgroupDriver: systemd\nfailSwapOn: off\n"), { cgroupDriver: "systemd", failSwapOn: false });
  deepEqual(fieldsIn("- a\n- b\n")["cgroupDriver"], undefined);
  for (const text of ["", "a: [", "\u0000"]) deepEqual(fieldsIn(text), {}, text);
});
