// A machine without a finding, for tests of doctor's checks.

import type { Machine } from "../../../src/cli/doctor/check.js";
import { networkOf } from "../../../src/cli/network/cni-files.js";
import { conflistText } from "../../../src/cli/network/conflist.js";

export const NETWORK = networkOf("10-nodelet.conflist", conflistText({ first: 0, length: 24 }));

export const HEALTHY: Machine = {
  kernel: "6.1.0-1",
  node: "v24.21.0",
  uid: 0,
  cgroupVersion: 2,
  controllers: ["cpu", "cpuset", "memory", "pids"],
  swaps: [],
  sysctls: { "net/ipv4/ip_forward": "1", "net/bridge/bridge-nf-call-iptables": "1" },
  fromRouter: [],
  modules: ["overlay"],
  mode: "standalone",
  settings: { runtime: "containerd", confDir: "/etc/cni/net.d", binDirs: ["/usr/lib/cni"], cgroupDriver: "cgroupfs" },
  kubelet: {
    cgroupDriver: "cgroupfs",
    expected: false,
    runtimeEndpoint: "unix:///run/containerd/containerd.sock",
    file: "/etc/nodelet/kubelet.yaml",
  },
  cniFiles: { names: ["10-nodelet.conflist"], network: NETWORK, broken: [] },
  cniPrograms: ["bridge", "host-local", "loopback", "portmap"],
  otherCniPrograms: [],
  looksInPluginFolder: true,
  installed: ["containerd", "iptables"],
  packages: "apt",
  nameServers: ["10.0.0.1"],
  disks: [{ path: "/", freePercent: 60, freeInodesPercent: 90 }],
  ports: [],
  clockSynchronised: true,
  runtimes: [{ unit: "containerd", endpoint: "unix:///run/c.sock", answers: true }],
  systemd: true,
  unit: undefined,
  nextStart: { file: "/k.yaml", failCgroupV1: true, failSwapOn: true },
};
