// Where runtimes look for their network, by their own configuration: containerd's of every version, and CRI-O's.

import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import { readContainerdConfig } from "../../../src/cli/runtime/containerd-config.js";
import { readCrioConfig } from "../../../src/cli/runtime/crio-config.js";
import { daemonFlags } from "../../../src/cli/runtime/find-containerd.js";
import { listAt, over, readToml, textAt, valueAt } from "../../../src/cli/runtime/toml.js";

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
    [
      "the sandbox image of containerd 1",
      TWO.replace("max_concurrent_downloads = 3", 'sandbox_image = "a/pause:1"'),
      { ...SOCKET, ...USUAL, binDirs: ["/usr/lib/cni"], cgroupDriver: "cgroupfs", sandboxImage: "a/pause:1" },
    ],
    [
      "the sandbox image of containerd 2",
      `${THREE}[plugins.'io.containerd.cri.v1.images'.pinned_images]\nsandbox = 'b/pause:2'\n`,
      { ...SOCKET, ...USUAL, binDirs: ["/opt/cni/bin", "/usr/lib/cni"], sandboxImage: "b/pause:2" },
    ],
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
    ["a sandbox image", ['[crio.image]\npause_image = "a/pause:3"\n'], { ...USUAL, sandboxImage: "a/pause:3" }],
    ["a file that is no TOML", ["[[[", '[crio.network]\nnetwork_dir = "/n"\n'], { ...USUAL, confDir: "/n" }],
  ];
  for (const [title, files, settings] of rows) {
    test(title, () => deepEqual(readCrioConfig(files), { runtime: "cri-o", ...settings }));
  }
});

test("TOML: values by their path and kind, and a drop-in over a file", () => {
  const toml = readToml(`a = "x # no comment" # comment
e = [ "1", # "no"
  '2' ]
mixed = [1, "2"]
big = 12345678901234567890
day = 1979-05-27T07:32:00Z
text = """
a = "hidden"
"""
[t."u.v"]
a = "\\"q\\""
__proto__ = { x = 1 }
`);
  equal(textAt(toml, "a"), "x # no comment");
  deepEqual(listAt(toml, "e"), ["1", "2"]);
  deepEqual([listAt(toml, "mixed"), listAt(toml, "a"), textAt(toml, "e")], [undefined, undefined, undefined]);
  deepEqual([textAt(toml, "big"), textAt(toml, "day")], ["12345678901234567890", "1979-05-27T07:32:00.000Z"]);
  equal(textAt(toml, "t", "u.v", "a"), '"q"');
  equal(valueAt(toml, "t", "u.v", "__proto__", "x"), 1);
  equal(valueAt(toml, "constructor"), undefined);
  const sum = over(readToml("a = 1\n[t]\nb = 1\nc = [1]\n"), readToml("[t]\nc = [2]\n[u]\nd = 1\n"));
  deepEqual(JSON.parse(JSON.stringify(sum)), { a: 1, t: { b: 1, c: [2] }, u: { d: 1 } });
});

test("text that is no TOML is refused with its place, and without its words", () => {
  for (const text of ["s3cret", 'a = "s3cret', "a = 1\nb = s3cret\n", `a = ${"[".repeat(100)}`]) {
    throws(() => readToml(text), /^Error: no valid TOML in line \d+, column \d+$/, text);
  }
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
