// Parts of a support bundle about the machine: versions, mounts, kills by the kernel, the kubelet's unit and log.

import { release, version } from "node:os";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { NodeletStatus } from "../../../shared/contracts/nodelet.js";
import { readThrough } from "../../machine/files.js";
import { kernelLog } from "../../machine/kernel-log.js";
import { runTool, toolOrNothing, type ToolOptions } from "../../machine/tool.js";
import { maskConfig } from "../mask-config.js";
import { maskMounts } from "../mask-mounts.js";
import { maskText } from "../mask-text.js";
import { maskUnit, maskVariablesFile } from "../mask-unit.js";
import { maskLog } from "../mask.js";
import type { Part, Sources } from "../part.js";
import { journal } from "./journal.js";

const PACKAGES = [
  ...["nodelet", "kubelet", "kubeadm", "kubectl", "cri-tools", "kubernetes-cni"],
  ...["containerd", "containerd.io", "runc", "crun", "cri-o", "docker.io", "docker-ce", "moby-engine"],
  ...["containernetworking-plugins", "iptables", "iptables-nft", "nftables", "conntrack", "conntrack-tools"],
  ...["systemd", "libc6", "glibc", "linux-image-amd64", "linux-image-arm64", "kernel-core"],
];
const PROGRAMS: readonly (readonly [command: string, ...args: string[]])[] = [
  ...(["kubelet", "containerd", "runc", "crun", "crio", "dockerd", "iptables", "nft"] as const).map(
    (name) => [name, "--version"] as const,
  ),
];
const KILLS =
  /\boom|oom[-_]kill|out of memory|killed process|memory cgroup|hung_task|blocked for more than|segfault|i\/o error|ext4-fs error/i;
const KILL_LINES = 1000;
const FLAG_FILES = ["/etc/default/kubelet", "/etc/sysconfig/kubelet", "/var/lib/kubelet/kubeadm-flags.env"];
const CONFIG_FILES = ["/etc/nodelet/kubelet.yaml", "/var/lib/kubelet/config.yaml"];

export function machineParts({ client, clock, secrets }: Sources): Part[] {
  return [
    { name: "versions.txt", read: (signal) => versions({ clock, signal }) },
    {
      name: "mounts.txt",
      read: async (signal) => {
        const pid = await client.json<NodeletStatus>("/nodelet/status").then(
          (status) => String(status.pid),
          () => "self",
        );
        // Mounts of the kubelet: a mount namespace may have others.
        const file = await readThrough(`/proc/${pid}/mountinfo`, { clock, signal, bytes: 4 * 1024 * 1024 });
        return maskMounts(file.text);
      },
    },
    {
      name: "kernel.log",
      keep: "end",
      read: async (signal) => {
        const lines = (await kernelLog({ clock, signal })).split("\n").filter((line) => KILLS.test(line));
        return lines.length === 0
          ? "the kernel's log has no kill and no failed disk\n"
          : maskLog(`${lines.slice(-KILL_LINES).join("\n")}\n`);
      },
    },
    {
      name: "kubelet-unit.txt",
      read: async (signal) => {
        const options = { clock, signal };
        const unit = await section(
          "systemctl cat kubelet",
          () => runTool("systemctl", ["cat", "--no-pager", "kubelet"], options),
          maskUnit,
        );
        const flags = await Promise.all(FLAG_FILES.map((path) => fileSection(path, options, maskVariablesFile)));
        const configs = await Promise.all(
          CONFIG_FILES.map((path) => fileSection(path, options, (text) => maskConfig(text, "yaml", secrets))),
        );
        return [unit, ...flags, ...configs].join("\n");
      },
    },
    {
      name: "kubelet.log",
      keep: "end",
      read: async (signal) => maskLog(await journal("kubelet", 5000, { clock, signal })),
    },
  ];
}

async function versions(options: ToolOptions): Promise<string> {
  const packages = async (): Promise<string> => {
    const format = "${Package} ${Version} ${db:Status-Status}\n";
    const printed =
      (await toolOrNothing("dpkg-query", ["-W", "-f", format, ...PACKAGES], { ...options, anyExit: true })) ??
      (await runTool("rpm", ["-q", ...PACKAGES], { ...options, anyExit: true }));
    return printed
      .split("\n")
      .filter((line) => line !== "" && !/not-installed|is not installed/.test(line))
      .join("\n");
  };
  const programs = PROGRAMS.map(async ([command, ...args]) => {
    const printed = await runTool(command, args, options).catch((error: unknown) => messageOf(error));
    return `${command}: ${printed.trim().split("\n").slice(0, 3).join("; ")}`;
  });
  const texts = await Promise.all([
    section("os-release", async () => (await readThrough("/etc/os-release", options)).text),
    section("kernel", () => Promise.resolve(`${release()} ${process.arch}\n${version()}`)),
    section("packages", packages),
    section("programs", async () => (await Promise.all(programs)).join("\n")),
    section("CNI programs", () => cniVersions(options)),
  ]);
  return maskText(texts.join("\n"));
}

/** A CNI program tells the versions of the specification that it knows; those of Debian also print their own. */
async function cniVersions(options: ToolOptions): Promise<string> {
  const lines: string[] = [];
  for (const folder of ["/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"]) {
    const names = ((await toolOrNothing("ls", [folder], options)) ?? "").split("\n").filter((name) => name !== "");
    if (names.length === 0) continue;
    const said = await toolOrNothing("env", ["CNI_COMMAND=VERSION", `${folder}/loopback`], options);
    lines.push(`${folder}: ${names.join(" ")}`, ...(said === undefined ? [] : [`${folder}/loopback: ${said.trim()}`]));
  }
  return lines.length === 0 ? "none" : lines.join("\n");
}

/** A titled text, or the reason why there is none. */
export async function section(
  title: string,
  read: () => Promise<string>,
  mask: (text: string) => string = (text) => text,
): Promise<string> {
  const text = await read().then(mask, (error: unknown) => `not available: ${maskText(messageOf(error))}`);
  return `== ${title}\n${text.trimEnd()}\n`;
}

export function fileSection(path: string, options: ToolOptions, mask: (text: string) => string): Promise<string> {
  return section(path, async () => {
    const { text, cut } = await readThrough(path, options);
    // In a text that is cut, the end of a secret may be missing.
    return cut ? "(left out: the file is too large)" : mask(text);
  });
}
