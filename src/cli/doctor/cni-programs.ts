// The check of CNI programs: those of the configured network are in the folders in which the runtime looks. Pure.

import { PROGRAMS } from "../network/conflist.js";
import { DEFAULT_BIN_DIR } from "../runtime/runtime-settings.js";
import { bad, ok, type Machine, type Result } from "./check.js";

const CHECK = "CNI programs";
const PACKAGE = "containernetworking-plugins";
/** Where the distributions' packages put the programs. */
const FOLDERS = { apt: "/usr/lib/cni", dnf: "/usr/libexec/cni" } as const;

export function cniPrograms(machine: Machine): Result[] {
  const { mode, settings, cniFiles, cniPrograms: present, installed, packages, looksInPluginFolder } = machine;
  const folders = settings?.binDirs ?? [DEFAULT_BIN_DIR];
  const plugins = cniFiles.network?.plugins ?? [];
  const ofNetwork = plugins.flatMap(({ type, ipam }) => (ipam === undefined ? [type] : [type, ipam]));
  // Without a configuration, the programs of the network that --fix writes. A cluster's plugin brings its own.
  const expected = plugins.length > 0 ? ofNetwork : mode === "standalone" ? PROGRAMS : [];
  const missing = [...new Set(["loopback", ...expected])].filter((name) => !present.includes(name));
  const results = [
    missing.length > 0
      ? bad(
          "error",
          CHECK,
          `${missing.join(", ")} missing in ${folders.join(" and ")}`,
          "the runtime cannot set up the network of a pod",
          fixOf(machine, folders[0] ?? DEFAULT_BIN_DIR, missing),
        )
      : mode === "cluster" && plugins.length === 0 && !looksInPluginFolder
        ? bad(
            "warning",
            CHECK,
            `the runtime looks in ${folders.join(" and ")}, not in ${DEFAULT_BIN_DIR}`,
            `most network plugins of clusters install their programs into ${DEFAULT_BIN_DIR}`,
            fixOfFolder(machine, folders[0] ?? ""),
          )
        : ok(CHECK, `${present.length} in ${folders.join(", ")}`),
  ];
  const needsIptables = plugins.some(({ type }) => type === "bridge" || type === "portmap");
  if (needsIptables && !installed.includes("iptables")) {
    const why = "the plugins bridge and portmap translate addresses with it";
    results.push(bad("error", "iptables", "not installed", why, `${installer(packages)} iptables`));
  }
  return results;
}

function fixOf({ otherCniPrograms, packages }: Machine, folder: string, missing: readonly string[]): string {
  const there = otherCniPrograms.find(({ programs }) => missing.every((name) => programs.includes(name)))?.folder;
  const from = there ?? FOLDERS[packages];
  const install = there === undefined ? [`${installer(packages)} ${PACKAGE}`] : [];
  const files = (there === undefined ? ["*"] : missing).map((name) => `${from}/${name}`).join(" ");
  const link = from === folder ? [] : [`mkdir -p ${folder}`, `ln -s ${files} ${folder}/`];
  return [...install, ...link].join(" && ");
}

/** The package kubernetes-cni has filled the folder of plugins, or that folder becomes the runtime's. */
function fixOfFolder({ otherCniPrograms }: Machine, folder: string): string {
  return otherCniPrograms.some((one) => one.folder === DEFAULT_BIN_DIR)
    ? `ln -s ${DEFAULT_BIN_DIR}/* ${folder}/`
    : `mkdir -p /opt/cni && ln -sT ${folder} ${DEFAULT_BIN_DIR}`;
}

export function installer(packages: Machine["packages"]): string {
  return packages === "apt" ? "apt-get install -y" : "dnf install -y";
}
