// Content of the test machine: Debian's release and packages, and the files added to them. The hash of all of it names
// the cached image, so that a change here makes a new one.

import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/** Debian 12 and 13. */
export const RELEASES = ["bookworm", "trixie"] as const;
export type Suite = (typeof RELEASES)[number];

/**
 * "prepared": containerd is configured for images of the test, and pods have a network. "fresh": what Debian's
 * installer and `apt install containerd containernetworking-plugins iptables sudo` leave: Debian's own configuration of
 * containerd and no CNI network.
 */
export type Kind = "prepared" | "fresh";

/** Every machine runs this release's kernel: its 6.1 cloud kernel is steady under emulation; later ones were not. */
export const KERNEL_SUITE: Suite = "bookworm";

const PACKAGES: readonly string[] = [
  ...["systemd", "systemd-sysv", "udev", "dbus", "kmod", "procps", "iproute2", "iptables"],
  ...["containerd", "runc", "containernetworking-plugins", "busybox-static"],
  // File systems with project quotas.
  "xfsprogs",
  // Node's own library, and what `make install` and the documents need.
  ...["libstdc++6", "make", "sudo"],
];
const KERNEL = "linux-image-cloud-amd64";

/** Packages of both kinds of image, which are made of one installation. */
export function packagesOf(suite: Suite): readonly string[] {
  return suite === KERNEL_SUITE ? [...PACKAGES, KERNEL] : PACKAGES;
}

/** Changes when image.ts makes something else of the same ingredients. */
const VERSION = "2";

/** A file of the image that is ours. */
export interface GuestFile {
  path: string;
  /** Below test/vm/guest, or the text itself. */
  from?: string;
  text?: string;
}

const COMMON: readonly GuestFile[] = [
  { path: "/usr/local/lib/nodelet-vm/agent.sh", from: "agent.sh" },
  { path: "/etc/systemd/system/nodelet-vm-agent.service", from: "nodelet-vm-agent.service" },
  // Fixed, so that no boot counts as the first one.
  { path: "/etc/machine-id", text: "6e6f64656c657400000000000000766d\n" },
];

const FILES: Readonly<Record<Kind, readonly GuestFile[]>> = {
  prepared: [
    ...COMMON,
    { path: "/etc/containerd/config.toml", from: "containerd.toml" },
    { path: "/etc/cni/net.d/10-vm.conflist", from: "cni.conflist" },
    { path: "/etc/hostname", text: "vm\n" },
    { path: "/etc/hosts", text: "127.0.0.1 localhost\n127.0.1.1 vm\n" },
    { path: "/etc/resolv.conf", text: "" },
  ],
  // The name is that of the documents.
  fresh: [
    ...COMMON,
    { path: "/etc/hostname", text: "node1\n" },
    { path: "/etc/hosts", text: "127.0.0.1 localhost\n127.0.1.1 node1\n" },
    { path: "/etc/resolv.conf", text: "nameserver 192.0.2.53\n" },
  ],
};

export function filesOf(kind: Kind): readonly GuestFile[] {
  return FILES[kind];
}

/** Relative to /etc/systemd/system: units that start, and those that only cost time. */
export const WANTED: Readonly<Record<string, string>> = {
  "multi-user.target.wants/nodelet-vm-agent.service": "/etc/systemd/system/nodelet-vm-agent.service",
};
export const MASKED: readonly string[] = [
  ...["apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "fstrim.timer"],
  ...["getty@tty1.service", "serial-getty@ttyS0.service", "e2scrub_reap.service", "systemd-pstore.service"],
];

/** Text of a guest file. */
export async function textOf(root: string, { from, text }: GuestFile): Promise<string> {
  return from === undefined ? (text ?? "") : readFile(join(root, "test/vm/guest", from), "utf8");
}

/** Name of the image that this recipe and this Node make: 16 hexadecimal digits. */
export async function recipeHash(root: string, node: string, suite: Suite, kind: Kind): Promise<string> {
  const files = await Promise.all(filesOf(kind).map(async (file) => [file.path, await textOf(root, file)]));
  const itsNode = kind === "prepared" ? [process.version, (await stat(node)).size] : [];
  const recipe = [VERSION, suite, packagesOf(suite), files, WANTED, MASKED, ...itsNode];
  return createHash("sha256").update(JSON.stringify(recipe)).digest("hex").slice(0, 16);
}
