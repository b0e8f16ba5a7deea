// The Debian package: control files beside the tree, put together by dpkg-deb.

import { createHash } from "node:crypto";
import { cp, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { KUBERNETES_VERSION } from "../../src/main/command/version.js";
import { run } from "../standalone/exec.js";
import { DESCRIPTION, HOMEPAGE, MAINTAINER, SUMMARY, type Build } from "./build.js";
import { filesBelow, installedKiB, put, settle } from "./files.js";
import type { Architecture } from "./pins.js";
import { script } from "./scripts.js";
import { LAYOUT, putCompletions } from "./tree.js";

const MAINTAINER_SCRIPTS = ["preinst", "postinst", "prerm", "postrm"];
/**
 * xz -6: 36 MB in a minute of processor time; zstd -9 makes 46 MB in 4 s, and zstd -19 39 MB in as long. Every dpkg
 * reads it. gzip takes a quarter of the time of xz -0, also where an emulated machine unpacks the package.
 */
const COMPRESSION = { small: ["-Zxz", "-z6"], fast: ["-Zgzip", "-z1"] } as const;
const TIMEOUT_MS = 30 * 60_000;
/** What lintian need not say. */
const OVERRIDES = `# The package carries Node.js as its project builds it.
nodelet: embedded-library zlib [usr/lib/nodelet/node/node]
nodelet: hardening-no-pie [usr/lib/nodelet/node/node]
`;

/** Writes nodelet_<version>_<architecture>.deb into `build.out`; returns its path. */
export async function makeDeb(build: Build): Promise<string> {
  const stage = join(build.work, "deb");
  await cp(build.tree, stage, { recursive: true });
  await putCompletions(stage, "debian");
  await put(join(stage, "usr/share/lintian/overrides/nodelet"), OVERRIDES);
  // Readable formats, as Debian policy names these files.
  const control = join(stage, "DEBIAN");
  await mkdir(control);
  const sums = await md5sums(stage);
  await put(join(control, "control"), controlText(build.version, build.architecture, await installedKiB(build.tree)));
  await put(join(control, "md5sums"), sums);
  await put(join(control, "conffiles"), `${LAYOUT.config}\n`);
  // Whenever another package brings or removes kubeadm, postinst decides again who starts the kubelet.
  await put(join(control, "triggers"), "interest-noawait /usr/bin/kubeadm\n");
  for (const name of MAINTAINER_SCRIPTS) await put(join(control, name), await script(build.root, name), 0o755);
  await settle(stage, build.epoch);
  const file = join(build.out, `nodelet_${build.version}_${build.architecture}.deb`);
  await run("dpkg-deb", ["--root-owner-group", ...COMPRESSION[build.compression], "--build", stage, file], {
    // liblzma cuts the data into the same pieces for any number of threads.
    env: { SOURCE_DATE_EPOCH: String(build.epoch) },
    timeoutMs: TIMEOUT_MS,
  });
  await rm(stage, { recursive: true });
  return file;
}

function controlText(version: string, architecture: Architecture, size: number): string {
  const fields = {
    Package: "nodelet",
    Version: version,
    Architecture: architecture,
    Maintainer: MAINTAINER,
    "Installed-Size": String(size),
    // Node and koffi; mount, umount and losetup for volumes. blkid and fsck are of util-linux, which every Debian has.
    Depends: "libc6 (>= 2.28), libstdc++6 (>= 8), libgcc-s1, mount",
    // A runtime, its network, upstream's iptables chains, file systems for volumes.
    Recommends:
      "containerd | containerd.io | cri-o, containernetworking-plugins | kubernetes-cni, iptables, iproute2, e2fsprogs",
    Suggests: "nfs-common, open-iscsi, multipath-tools, xfsprogs, uidmap",
    Provides: `kubelet (= ${KUBERNETES_VERSION.slice(1)})`,
    Conflicts: "kubelet",
    Replaces: "kubelet",
    Section: "admin",
    Priority: "optional",
    Homepage: HOMEPAGE,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return `${lines.join("\n")}\nDescription: ${SUMMARY}\n${DESCRIPTION.map((line) => ` ${line}`).join("\n")}\n`;
}

async function md5sums(stage: string): Promise<string> {
  const lines: string[] = [];
  for (const file of await filesBelow(stage)) {
    const sum = createHash("md5").update(await readFile(join(stage, file)));
    if (`/${file}` !== LAYOUT.config) lines.push(`${sum.digest("hex")}  ${file}\n`);
  }
  return lines.join("");
}
