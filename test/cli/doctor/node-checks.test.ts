// doctor's checks of the pod network, the runtime and what both need of the kernel: severity, words and the command
// that mends it.

import { deepEqual, match } from "node:assert/strict";
import { describe, test } from "node:test";
import type { Machine } from "../../../src/cli/doctor/check.js";
import { judge } from "../../../src/cli/doctor/rules.js";
import { networkOf } from "../../../src/cli/network/cni-files.js";
import { conflistText } from "../../../src/cli/network/conflist.js";
import { node, RUNTIME } from "../kit.js";
import { HEALTHY, NETWORK } from "./healthy.js";

const CNI = "/etc/cni/net.d";
const SETTINGS = HEALTHY.settings!;
const NONE = { names: [], broken: [] };
const away = [{ unit: "containerd", endpoint: "unix:///x", answers: false }];
const unset = { "net/bridge/bridge-nf-call-iptables": "1", "net/ipv4/ip_forward": "0" };
const unset6 = { ...HEALTHY.sysctls, "net/ipv6/conf/all/forwarding": "0" };
const dual = {
  cniFiles: {
    names: ["10-nodelet.conflist"],
    broken: [],
    network: networkOf(
      "10-nodelet.conflist",
      conflistText({ first: 0, length: 24 }, { first: 0xfdn << 120n, length: 64 }),
    ),
  },
};
const dualOther = { cniFiles: { ...dual.cniFiles, network: { ...dual.cniFiles.network, file: "10-x.conflist" } } };
const DEBIAN = { folder: "/usr/lib/cni", programs: ["bridge", "host-local", "loopback", "portmap"] };
const flannel = networkOf("10-flannel.conflist", JSON.stringify({ plugins: [{ type: "flannel" }] }));
const CLUSTER_NETWORK = { names: ["10-x.conflist"], broken: [], network: { ...NETWORK, file: "10-x.conflist" } };
const TEMPLATED = { ...SETTINGS, template: "/t" };
const SYSTEMD = { ...HEALTHY.kubelet, cgroupDriver: "systemd", file: "/var/lib/kubelet/config.yaml" };
const macvlan = networkOf("05-net.conf", JSON.stringify({ type: "macvlan", ipam: { type: "dhcp" } }));

interface Row {
  title: string;
  machine: Partial<Machine>;
  check: string;
  severity: "ok" | "warning" | "error";
  found: RegExp;
  fix?: string;
}

const ROWS: readonly Row[] = [
  {
    ...{ title: "a folder without a configuration", machine: { cniFiles: NONE }, check: "CNI configuration" },
    ...{ severity: "warning", found: /^\/etc\/cni\/net\.d has none$/, fix: "nodelet doctor --fix" },
  },
  {
    ...{ title: "the folder of the runtime, not the usual one", check: "CNI configuration", severity: "warning" },
    ...{
      machine: { cniFiles: NONE, settings: { ...SETTINGS, confDir: "/opt/net.d" } },
      found: /^\/opt\/net\.d has none$/,
    },
    fix: "nodelet doctor --fix",
  },
  {
    ...{ title: "a cluster before its network plugin", machine: { mode: "cluster", cniFiles: NONE } },
    ...{ check: "CNI configuration", severity: "warning", found: /has none/ },
    fix: "install the network plugin of the cluster: kubectl apply -f its manifest",
  },
  {
    ...{ title: "a template of containerd", check: "CNI configuration", severity: "ok", found: /makes it from \/t/ },
    machine: { cniFiles: NONE, settings: { ...SETTINGS, template: "/t" } },
  },
  {
    ...{ title: "a broken file", check: "CNI configuration", severity: "error", found: /^a\.conf: is no JSON$/ },
    machine: { cniFiles: { names: ["a.conf"], broken: ["a.conf: is no JSON"] } },
    fix: `mv ${CNI}/a.conf ${CNI}/a.conf.disabled && nodelet doctor --fix`,
  },
  {
    ...{ title: "a broken file before a valid one, with containerd", check: "CNI configuration", severity: "error" },
    machine: { cniFiles: { names: ["a.conf", "b.conflist"], broken: ["a.conf: no"], network: NETWORK } },
    ...{ found: /a\.conf: no/, fix: `mv ${CNI}/a.conf ${CNI}/a.conf.disabled` },
  },
  {
    ...{ title: "a broken file before a valid one, with CRI-O", check: "CNI configuration", severity: "warning" },
    machine: {
      settings: { ...SETTINGS, runtime: "cri-o" },
      cniFiles: { names: ["a.conf", "b.conflist"], broken: ["a.conf: no"], network: NETWORK },
    },
    ...{ found: /a\.conf: no/, fix: `mv ${CNI}/a.conf ${CNI}/a.conf.disabled` },
  },
  {
    ...{ title: "a folder that cannot be read", check: "CNI configuration", severity: "error", found: /EACCES/ },
    ...{ machine: { cniFiles: { names: [], broken: ["EACCES: permission denied"] } }, fix: `ls -ld ${CNI}` },
  },
  {
    ...{ title: "the network of a stand-alone node in a cluster", machine: { mode: "cluster" } },
    ...{ check: "CNI configuration", severity: "warning", found: /10-nodelet/, fix: `rm ${CNI}/10-nodelet.conflist` },
  },
  {
    ...{ title: "no CNI programs", check: "CNI programs", severity: "error", machine: { cniPrograms: [] } },
    ...{ found: /^loopback, bridge, host-local, portmap missing in \/usr\/lib\/cni$/ },
    fix: "apt-get install -y containernetworking-plugins",
  },
  {
    ...{ title: "programs where the runtime does not look", check: "CNI programs", severity: "error" },
    machine: {
      ...{ cniPrograms: [], otherCniPrograms: [DEBIAN, { folder: "/usr/libexec/cni", programs: ["loopback"] }] },
      settings: { ...SETTINGS, binDirs: ["/opt/cni/bin"] },
    },
    found: /missing in \/opt\/cni\/bin$/,
    fix: "mkdir -p /opt/cni/bin && ln -s /usr/lib/cni/loopback /usr/lib/cni/bridge /usr/lib/cni/host-local /usr/lib/cni/portmap /opt/cni/bin/",
  },
  {
    ...{ title: "a program that the cluster's plugin put where the runtime does not look", check: "CNI programs" },
    machine: {
      ...{ mode: "cluster", cniPrograms: ["loopback"], looksInPluginFolder: false },
      cniFiles: { names: ["10-flannel.conflist"], broken: [], network: flannel },
      otherCniPrograms: [{ folder: "/opt/cni/bin", programs: ["flannel"] }],
    },
    ...{ severity: "error", found: /^flannel missing in \/usr\/lib\/cni$/ },
    fix: "mkdir -p /usr/lib/cni && ln -s /opt/cni/bin/flannel /usr/lib/cni/",
  },
  {
    ...{ title: "a runtime that will not find the programs of the cluster's plugin", check: "CNI programs" },
    machine: { mode: "cluster", cniFiles: NONE, settings: TEMPLATED, looksInPluginFolder: false },
    ...{ severity: "warning", found: /^the runtime looks in \/usr\/lib\/cni, not in \/opt\/cni\/bin$/ },
    fix: "mkdir -p /opt/cni && ln -sT /usr/lib/cni /opt/cni/bin",
  },
  {
    ...{ title: "a runtime that does not look where the package kubernetes-cni puts programs", check: "CNI programs" },
    machine: {
      ...{ mode: "cluster", cniFiles: NONE, settings: TEMPLATED, looksInPluginFolder: false },
      otherCniPrograms: [{ folder: "/opt/cni/bin", programs: ["loopback", "bridge"] }],
    },
    ...{ severity: "warning", found: /not in \/opt\/cni\/bin$/, fix: "ln -s /opt/cni/bin/* /usr/lib/cni/" },
  },
  {
    ...{ title: "no programs at all, and the runtime looks in upstream's folder, with dnf", check: "CNI programs" },
    machine: { cniPrograms: [], packages: "dnf", settings: { ...SETTINGS, binDirs: ["/opt/cni/bin"] } },
    ...{ severity: "error", found: /missing/ },
    fix: "dnf install -y containernetworking-plugins && mkdir -p /opt/cni/bin && ln -s /usr/libexec/cni/* /opt/cni/bin/",
  },
  {
    ...{ title: "a plugin of the configured network", check: "CNI programs", severity: "error" },
    machine: { cniFiles: { names: ["05-net.conf"], broken: [], network: macvlan } },
    ...{ found: /^macvlan, dhcp missing in/, fix: "apt-get install -y containernetworking-plugins" },
  },
  {
    ...{ title: "a bridge without iptables", machine: { installed: ["containerd"] }, check: "iptables" },
    ...{ severity: "error", found: /^not installed$/, fix: "apt-get install -y iptables" },
  },
  {
    ...{ title: "forwarding that the bridge switches on", machine: { sysctls: unset }, check: "net.ipv4.ip_forward" },
    ...{ severity: "ok", found: /^0: the CNI plugin bridge switches it on with the first pod$/ },
  },
  {
    ...{
      title: "forwarding that no plugin switches on",
      check: "net.ipv4.ip_forward",
      severity: "error",
      found: /^0$/,
    },
    machine: {
      ...{ sysctls: unset, cniPrograms: ["loopback", "macvlan", "dhcp"] },
      cniFiles: { names: ["05-net.conf"], broken: [], network: macvlan },
    },
    fix: "echo net.ipv4.ip_forward=1 >/etc/sysctl.d/k8s.conf && sysctl -p /etc/sysctl.d/k8s.conf",
  },
  {
    ...{
      title: "forwarding in a cluster, which kubeadm wants before",
      check: "net.ipv4.ip_forward",
      severity: "error",
    },
    ...{ machine: { mode: "cluster", sysctls: unset, cniFiles: { ...NONE, names: ["10-x.conf"] } }, found: /^0$/ },
    fix: "echo net.ipv4.ip_forward=1 >/etc/sysctl.d/k8s.conf && sysctl -p /etc/sysctl.d/k8s.conf",
  },
  {
    ...{ title: "IPv6 forwarding that the bridge switches on", machine: { ...dual, sysctls: unset6 } },
    ...{ check: "net.ipv6.conf.all.forwarding", severity: "ok", found: /^0: the CNI plugin bridge switches it on/ },
  },
  {
    ...{ title: "IPv6 forwarding in a cluster", machine: { ...dualOther, mode: "cluster", sysctls: unset6 } },
    ...{ check: "net.ipv6.conf.all.forwarding", severity: "error", found: /^0$/ },
    fix: "echo net.ipv6.conf.all.forwarding=1 >/etc/sysctl.d/k8s-ipv6.conf && sysctl -p /etc/sysctl.d/k8s-ipv6.conf",
  },
  {
    ...{
      title: "routes from a router that forwarding would end",
      machine: { ...dual, fromRouter: ["eth0", "eth1.7"] },
    },
    ...{ check: "accept_ra", severity: "warning", found: /^1 for eth0, eth1\.7$/ },
    fix: "printf 'net.ipv6.conf.eth0.accept_ra=2\\nnet.ipv6.conf.eth1/7.accept_ra=2\\n' >/etc/sysctl.d/90-nodelet-ipv6.conf && sysctl -p /etc/sysctl.d/90-nodelet-ipv6.conf",
  },
  {
    ...{ title: "traffic of bridges on a stand-alone node", machine: { sysctls: { "net/ipv4/ip_forward": "1" } } },
    ...{ check: "net.bridge.bridge-nf-call-iptables", severity: "ok", found: /not needed/ },
  },
  {
    ...{ title: "traffic of bridges in a cluster", check: "net.bridge.bridge-nf-call-iptables", severity: "warning" },
    machine: {
      ...{ mode: "cluster", sysctls: { "net/ipv4/ip_forward": "1" } },
      cniFiles: { names: ["10-x.conf"], broken: [], network: { ...NETWORK, file: "10-x.conf" } },
    },
    found: /br_netfilter is not loaded/,
    fix: "echo br_netfilter >/etc/modules-load.d/br_netfilter.conf && modprobe br_netfilter && sysctl -w net.bridge.bridge-nf-call-iptables=1",
  },
  {
    ...{ title: "a runtime that is not installed", check: "runtime", severity: "error" },
    machine: {
      installed: ["iptables"],
      settings: undefined,
      runtimes: away,
      cniPrograms: ["bridge", "host-local", "loopback", "portmap"],
    },
    ...{ found: /^containerd: not installed$/, fix: "apt-get install -y containerd containernetworking-plugins" },
  },
  {
    ...{ title: "a runtime that does not run", machine: { runtimes: away }, check: "runtime", severity: "error" },
    ...{ found: /^no socket at unix:\/\/\/x$/, fix: "systemctl enable --now containerd" },
  },
  {
    ...{ title: "only Docker is installed", check: "runtime", severity: "error", found: /^no socket at/ },
    machine: {
      installed: ["dockerd", "iptables"],
      runtimes: [...away, { unit: "docker", endpoint: "unix:///d", answers: false }],
    },
    fix: "systemctl enable --now docker",
  },
  {
    ...{ title: "a containerd for Docker alone", check: "runtime", severity: "error", found: /disabled_plugins/ },
    machine: { settings: { ...SETTINGS, criDisabled: true } },
    fix: "sed -i '/^disabled_plugins/s/^/#/' /etc/containerd/config.toml && systemctl restart containerd",
  },
  {
    ...{ title: "two cgroup drivers", check: "cgroup driver", severity: "error" },
    machine: { settings: { ...SETTINGS, cgroupDriver: "systemd" } },
    found: /^the kubelet has cgroupfs, containerd systemd \(SystemdCgroup = true\)$/,
    fix: "sed -i '/^cgroupDriver:/d' /etc/nodelet/kubelet.yaml && echo 'cgroupDriver: systemd' >>/etc/nodelet/kubelet.yaml && systemctl restart kubelet",
  },
  {
    ...{ title: "two cgroup drivers in a cluster, whose configuration is not the node's", check: "cgroup driver" },
    machine: { mode: "cluster", cniFiles: CLUSTER_NETWORK, kubelet: SYSTEMD },
    ...{ severity: "error", found: /^the kubelet has systemd, containerd cgroupfs \(SystemdCgroup = false\)$/ },
    fix: "containerd config dump | sed -e '/^imports = /d' -e 's/SystemdCgroup = false/SystemdCgroup = true/' >/etc/containerd/config.toml.new && mv /etc/containerd/config.toml.new /etc/containerd/config.toml && systemctl restart containerd",
  },
  {
    ...{ title: "a driver that is not the one of kubeadm, before the join", check: "cgroup driver" },
    machine: { mode: "cluster", cniFiles: CLUSTER_NETWORK, kubelet: { ...SYSTEMD, expected: true } },
    ...{ severity: "error", found: /^kubeadm gives the kubelet systemd, containerd cgroupfs / },
    fix: "containerd config dump | sed -e '/^imports = /d' -e 's/SystemdCgroup = false/SystemdCgroup = true/' >/etc/containerd/config.toml.new && mv /etc/containerd/config.toml.new /etc/containerd/config.toml && systemctl restart containerd",
  },
];

describe("doctor finds", () => {
  for (const { title, machine, check, severity, found, fix } of ROWS) {
    test(`${check}: ${title}`, () => {
      const results = judge({ ...HEALTHY, ...machine }, undefined);
      const faults = results.filter((one) => one.severity !== "ok").map((one) => one.check);
      deepEqual(faults, severity === "ok" ? [] : [check], "no other finding");
      const result = results.find((one) => one.check === check);
      match(result?.found ?? "", found);
      deepEqual([result?.severity, result?.fix], [severity, fix]);
    });
  }

  test("no cgroup driver of a runtime that tells the kubelet its own", () => {
    const { cgroupDriver: _, ...settings } = SETTINGS;
    deepEqual(
      judge({ ...HEALTHY, settings }, undefined).filter(({ check }) => check === "cgroup driver"),
      [],
    );
  });

  test("a stand-alone node beside kubeadm whose command line systemd has not read, and a kubelet still in the cluster", () => {
    const found = (unit: Machine["unit"], status?: Parameters<typeof judge>[1]): unknown[] =>
      judge({ ...HEALTHY, unit }, status)
        .filter(({ check }) => check === "mode of the unit")
        .map(({ severity, fix }) => [severity, fix]);
    const alone = { mode: "standalone", kubeadmDropIn: true, ownDropIn: true } as const;
    const reload = "systemctl daemon-reload && systemctl restart kubelet";
    const joined = node({}, { apiServer: { tookMs: 3 } });
    deepEqual(found({ ...alone, ownDropIn: false }), [["error", reload]]);
    deepEqual(found({ ...alone, ownDropIn: false }, joined), [["error", reload]]);
    deepEqual(found(alone, joined), [["warning", "systemctl restart kubelet"]]);
    deepEqual(found(alone), [["ok", undefined]]);
    deepEqual(found({ ...alone, kubeadmDropIn: false }, joined), [["warning", "systemctl restart kubelet"]]);
    deepEqual(found({ ...alone, mode: "cluster" }, joined), []);
    deepEqual(found(undefined, joined), []);
  });

  test("a socket without a kubelet, and the version with one", () => {
    const of = (status?: Parameters<typeof judge>[1]): string | undefined =>
      judge(HEALTHY, status).find(({ check }) => check === "runtime")?.found;
    deepEqual(of(), "a socket at unix:///run/c.sock");
    deepEqual(of(node({ runtime: RUNTIME })), "containerd 1.6.20 at unix:///run/containerd/containerd.sock");
  });
});
