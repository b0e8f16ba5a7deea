// Where runtimes look for their network, by their own configuration: containerd's of every version, and CRI-O's.
import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { readContainerdConfig } from "../../../src/cli/runtime/containerd-config.js";
import { readCrioConfig } from "../../../src/cli/runtime/crio-config.js";
import { daemonFlags } from "../../../src/cli/runtime/find-containerd.js";
import { readToml } from "../../../src/cli/runtime/toml.js";

const USUAL = { confDir: "/etc/cni/net.d", binDirs: ["/opt/cni/bin"] };
const SOCKET = { runtime: "containerd", address: "/run/containerd/containerd.sock" };

/** As containerd 1.6 and 1.7 print it. */
const TWO = `disabled_plugins = []
version = 2

[grpc]
  address = "/run/containerd/containerd.sock"
  gid = 0

[plugins]

  [plugins."io.containerd.grpc.v1.cri"]
    max_concurrent_downloads = 3

    [plugins."io.containerd.grpc.v1.cri".cni]
      bin_dir = "/usr/lib/cni"
      conf_dir = "/etc/cni/net.d"
      conf_template = ""

    [plugins."io.containerd.grpc.v1.cri".containerd]
      default_runtime_name = "runc"

        [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.other.options]
          SystemdCgroup = true

        [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
          cni_conf_dir = ""
          [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
            SystemdCgroup = false

[timeouts]
  "io.containerd.timeout.task.state" = "2s"
`;

/** As containerd 2.1 prints it. */
const THREE = `version = 3
root = '/var/lib/containerd'
disabled_plugins = []

[grpc]
  address = '/run/containerd/containerd.sock'

[plugins]
  [plugins.'io.containerd.cri.v1.runtime']
    [plugins.'io.containerd.cri.v1.runtime'.containerd]
      default_runtime_name = 'runc'
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        SystemdCgroup = true
    [plugins.'io.containerd.cri.v1.runtime'.cni]
      bin_dir = ''
      bin_dirs = ['/opt/cni/bin', '/usr/lib/cni']
      conf_dir = '/etc/cni/net.d'
      conf_template = ''

  [plugins.'io.containerd.grpc.v1.cri']
    disable_tcp_service = true
`;

describe("containerd config dump", () => {
  const rows: readonly (readonly [title: string, dump: string, settings: object])[] = [
    ["version 2", TWO, { ...SOCKET, ...USUAL, binDirs: ["/usr/lib/cni"], cgroupDriver: "cgroupfs" }],
    [
      "version 3, which tells the kubelet its driver",
      THREE,
      { ...SOCKET, ...USUAL, binDirs: ["/opt/cni/bin", "/usr/lib/cni"] },
    ],
    [
      "version 3 of containerd 2.0, with one folder",
      THREE.replace("bin_dirs = ['/opt/cni/bin', '/usr/lib/cni']", "").replace("bin_dir = ''", "bin_dir = '/x'"),
      { ...SOCKET, ...USUAL, binDirs: ["/x"] },
    ],
    [
      "version 2 with the systemd driver",
      TWO.replace("SystemdCgroup = false", "SystemdCgroup = true"),
      { ...SOCKET, ...USUAL, binDirs: ["/usr/lib/cni"], cgroupDriver: "systemd" },
    ],
    [
      "another default runtime",
      TWO.replace('default_runtime_name = "runc"', 'default_runtime_name = "other"'),
      { ...SOCKET, ...USUAL, binDirs: ["/usr/lib/cni"], cgroupDriver: "systemd" },
    ],
    [
      "a network of the default runtime",
      TWO.replace('cni_conf_dir = ""', 'cni_conf_dir = "/r/net.d/"'),
      { ...SOCKET, confDir: "/r/net.d", binDirs: ["/usr/lib/cni"], cgroupDriver: "cgroupfs" },
    ],
    [
      "a template",
      TWO.replace('conf_template = ""', 'conf_template = "/t"'),
      { ...SOCKET, ...USUAL, binDirs: ["/usr/lib/cni"], cgroupDriver: "cgroupfs", template: "/t" },
    ],
    [
      "a disabled CRI plugin, as Docker's package has it",
      TWO.replace("disabled_plugins = []", 'disabled_plugins = ["cri"]'),
      { ...SOCKET, ...USUAL, binDirs: ["/usr/lib/cni"], cgroupDriver: "cgroupfs", criDisabled: true },
    ],
    [
      "version 1",
      'version = 1\n[plugins.cri.cni]\nbin_dir = "/b/"\nconf_dir = "/c/"\n',
      { ...SOCKET, confDir: "/c", binDirs: ["/b"], cgroupDriver: "cgroupfs" },
    ],
    [
      "another socket",
      '[grpc]\naddress = "/x.sock"\n',
      { ...SOCKET, address: "/x.sock", ...USUAL, cgroupDriver: "cgroupfs" },
    ],
    ["no text", "", { ...SOCKET, ...USUAL, cgroupDriver: "cgroupfs" }],
    ["text that is no TOML", "\u0000[[[\n= = =\n[plugins\nx", { ...SOCKET, ...USUAL, cgroupDriver: "cgroupfs" }],
  ];
  for (const [title, dump, settings] of rows) test(title, () => deepEqual(readContainerdConfig(dump), settings));
});

describe("CRI-O's files", () => {
  const rows: readonly (readonly [title: string, files: string[], settings: object])[] = [
    ["none", [], USUAL],
    ["only comments", ['[crio.network]\n# network_dir = "/x"\n'], USUAL],
    [
      "a list over several lines",
      ['[crio.network]\nnetwork_dir = "/n/"\nplugin_dirs = [\n  "/a/", # first\n  "/b",\n]\n'],
      { confDir: "/n", binDirs: ["/a", "/b"] },
    ],
    [
      "a later file over an earlier one",
      ['[crio.network]\nnetwork_dir = "/n"\n', '[crio.network]\nnetwork_dir = "/later"\n'],
      { ...USUAL, confDir: "/later" },
    ],
    ["the old field", ['[crio.network]\nplugin_dir = "/old/"\n'], { ...USUAL, binDirs: ["/old"] }],
    ["an empty list", ["[crio.network]\nplugin_dirs = []\n"], USUAL],
  ];
  for (const [title, files, settings] of rows) {
    test(title, () => deepEqual(readCrioConfig(files), { runtime: "cri-o", ...settings }));
  }
});

test("TOML: quotes, comments, lists over lines, and text over lines that holds no keys", () => {
  const toml = readToml(`a = "x # no comment" # comment
b = 'C:\\'
"c d" = true
e = [ "1", # "no"
  '2' ]
n = 5
list = [1, 2]
text = """
a = "hidden"
"""
[t."u.v"]
a = "\\"q\\""
[[array]]
a = "last"
`);
  const values = ["a", "b", "c d", "e", "n", "list", "text"].map((key) => toml.value([], key));
  deepEqual(values, ["x # no comment", "C:\\", true, ["1", "2"], undefined, undefined, undefined]);
  deepEqual(toml.text(["t", "u.v"], "a"), '"q"');
});

test("the configuration and address of a daemon are read from its command line", () => {
  const rows: readonly (readonly [words: string[], flags: object])[] = [
    [["/usr/bin/containerd"], {}],
    [["containerd", "--config", "/c.toml", "--log-level", "info"], { config: "/c.toml" }],
    [["containerd", "--config=/c.toml", "-a=/s.sock"], { config: "/c.toml", address: "/s.sock" }],
    [["containerd", "-c", "/c.toml", "--address", "/s.sock"], { config: "/c.toml", address: "/s.sock" }],
  ];
  for (const [words, flags] of rows) deepEqual(daemonFlags(words), flags, words.join(" "));
});
