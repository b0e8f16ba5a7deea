// What the runtime's configuration says, and the kubelet's.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { settingsOf } from "../../../src/cli/machine/kubelet-config.js";
import { configOf, factsIn } from "../../../src/cli/machine/runtime-config.js";
import { readToml } from "../../../src/cli/machine/toml.js";

test("the sandbox image and the CNI folder are those of containerd 1 and of containerd 2", () => {
  const one =
    '[plugins."io.containerd.grpc.v1.cri"]\nsandbox_image = "a/pause:1"\n[plugins."io.containerd.grpc.v1.cri".cni]\nconf_dir = "/x"\n';
  deepEqual(factsIn(readToml(one)), { sandboxImage: "a/pause:1", cniFolder: "/x" });
  const two = `[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = 'b/pause:2'
[plugins.'io.containerd.cri.v1.runtime'.cni]
conf_dir = '/y'
`;
  deepEqual(factsIn(readToml(two)), { sandboxImage: "b/pause:2", cniFolder: "/y" });
  deepEqual(factsIn(readToml("version = 2")), { sandboxImage: undefined, cniFolder: "/etc/cni/net.d" });
});

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
    runtimeEndpoint: undefined,
  });
  const fields = { failCgroupV1: false, failSwapOn: false, staticPodPath: "/m", containerRuntimeEndpoint: "unix:///x" };
  deepEqual(settingsOf({ ...fields, featureGates: { PreventStaticPodAPIReferences: false } }), {
    ...{ preventAPIReferences: false, staticPodPath: "/m", failCgroupV1: false, failSwapOn: false },
    runtimeEndpoint: "unix:///x",
  });
});
