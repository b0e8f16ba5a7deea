// The file system tree of the packages for one architecture: what all formats have in common.

import { chmod, cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { COMPLETIONS } from "../../src/cli/commands/completion.js";
import { copyCode, copyPackage } from "../install/copy-code.js";
import { layoutOf } from "../install/layout.js";
import { ENTRIES, kubeletScript, nodeletScript } from "../install/wrappers.js";
import { SetupProblem } from "../standalone/problem.js";
import { debianChangelog } from "./changelog.js";
import { makeReproducibleCache } from "./code-cache.js";
import { COPYRIGHT } from "./copyright.js";
import { withoutSymbols } from "./elf.js";
import { gzipped, put } from "./files.js";
import { licenceTexts, type LicensedFolder } from "./licences.js";
import { besideOurCode, lockedPackages } from "./lock.js";
import { kubeletManual, kubeletTable } from "./manual/kubelet.js";
import { nodeletManual, nodeletTable } from "./manual/nodelet.js";
import { NAMES, NODE, type Architecture, type Pin } from "./pins.js";
import { sbom } from "./sbom.js";

export interface TreeOptions {
  /** The built project. */
  root: string;
  architecture: Architecture;
  /** Version of the package. */
  version: string;
  /** As `git describe` names the sources. */
  commit: string | undefined;
  /** Seconds since 1970: the time of every file. */
  epoch: number;
  /** Unpacks an npm package that node_modules does not have; returns its folder. */
  fetch: (pin: Pin) => Promise<string>;
  say: (line: string) => void;
}

export const LAYOUT = layoutOf({ prefix: "/usr", destdir: "" });
export const DOC = "/usr/share/doc/nodelet";
/** Folders in which each distribution's zsh looks. */
const ZSH = { debian: "/usr/share/zsh/vendor-completions", others: "/usr/share/zsh/site-functions" } as const;
export type Family = keyof typeof ZSH;

/** Writes the tree into the folder `to`. @throws SetupProblem */
export async function makeTree(to: string, options: TreeOptions): Promise<void> {
  await putCode(to, options);
  await putSystemFiles(to, options.root);
  const { version, epoch } = options;
  const share = join(to, "usr/share");
  await put(join(share, "man/man8/kubelet.8.gz"), gzipped(kubeletManual(version, epoch)));
  await put(join(share, "man/man1/nodelet.1.gz"), gzipped(nodeletManual(version, epoch)));
  const changes = await readFile(join(options.root, "CHANGELOG.md"), "utf8");
  await put(join(to, DOC, "changelog.gz"), gzipped(debianChangelog(changes, { version, epoch })));
}

/** Completion scripts, which lie in other folders on other distributions. */
export async function putCompletions(to: string, family: Family): Promise<void> {
  for (const table of [kubeletTable(), nodeletTable()]) {
    const files: Readonly<Record<string, string>> = {
      bash: `/usr/share/bash-completion/completions/${table.name}`,
      zsh: `${ZSH[family]}/_${table.name}`,
      fish: `/usr/share/fish/vendor_completions.d/${table.name}.fish`,
    };
    for (const [shell, make] of Object.entries(COMPLETIONS)) await put(join(to, files[shell] ?? ""), make(table));
  }
}

/** Without the first line by which a shell would run it: the executables of the package name the Node that runs it. */
async function makeLoadedOnly(script: string): Promise<void> {
  await writeFile(script, (await readFile(script, "utf8")).replace(/^#!.*\n/, ""));
  await chmod(script, 0o644);
}

async function putCode(to: string, options: TreeOptions): Promise<void> {
  const { root, architecture, version, commit, epoch, fetch, say } = options;
  const home = join(to, LAYOUT.home);
  const agent = join(home, "dist/agent");
  await copyCode(join(root, "dist/agent"), agent, (path) => !path.endsWith(".cache"));
  for (const entry of Object.values(ENTRIES)) await makeLoadedOnly(join(home, entry));
  await put(join(agent, "version.json"), `${JSON.stringify({ version, commit })}\n`);

  const nodePin = NODE[architecture];
  const nodeFolder = await fetch(nodePin);
  const node = join(home, "node/node");
  await put(node, withoutSymbols(await readFile(join(nodeFolder, "bin/node"))), 0o755);
  await cp(join(nodeFolder, "LICENSE"), join(home, "node/LICENSE"));

  const all = await lockedPackages(root, architecture);
  const beside = await besideOurCode(root, all);
  const own = NAMES[process.arch === "arm64" ? "arm64" : "amd64"].npm === NAMES[architecture].npm;
  const licensed: LicensedFolder[] = [];
  for (const one of all) {
    // Native code in node_modules is for the processor of this machine.
    const folder = one.native && !own ? await fetch(one) : join(root, one.path);
    if (beside.includes(one)) await copyPackage(folder, join(home, one.path), { glibcOnly: true });
    licensed.push({ ...one, folder });
  }
  for (const name of ["package.json", "LICENSE"]) await cp(join(root, name), join(home, name));
  await put(join(to, DOC, "THIRD-PARTY-LICENSES.gz"), gzipped(await licenceTexts(licensed)));
  await put(join(to, DOC, "sbom.cdx.json"), sbom({ version, epoch, node: nodePin, packages: all }));
  await put(join(to, LAYOUT.executable), kubeletScript(join(LAYOUT.home, "node/node"), LAYOUT.home), 0o755);
  await put(join(to, LAYOUT.command), nodeletScript(join(LAYOUT.home, "node/node"), LAYOUT.home), 0o755);
  if (own) await makeReproducibleCache(node, agent);
  else
    say(`${architecture}: without a code cache, which only its own processor can make: the kubelet compiles at start`);
}

/**
 * One unit, whose command line kubeadm's drop-in replaces. The package has no drop-in that sorts after it: the
 * generator makes one where it is due.
 */
async function putSystemFiles(to: string, root: string): Promise<void> {
  const packaged = (name: string): Promise<string> => readFile(join(root, "tools/deploy", name), "utf8");
  const unit = await packaged("systemd/kubelet.service");
  const start = /^ExecStart=.+\n/m;
  if (!start.test(unit)) throw new SetupProblem("the unit has no ExecStart");
  const lines = [
    "# KUBELET_KUBEADM_ARGS, written by kubeadm init and kubeadm join.",
    "EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env",
    "# MODE=standalone or MODE=cluster, and KUBELET_EXTRA_ARGS: flags of this machine, which take precedence.",
    "EnvironmentFile=-/etc/default/kubelet",
    `ExecStart=${LAYOUT.start} $KUBELET_KUBEADM_ARGS -- $KUBELET_EXTRA_ARGS`,
  ];
  const text = unit
    .replace(
      /^# The kubelet\..*\n/,
      "# The kubelet, stand-alone or in a cluster. kubeadm's drop-in in kubelet.service.d replaces the command line.\n",
    )
    .replace(start, () => `${lines.join("\n")}\n`);
  await put(join(to, LAYOUT.start), await packaged("systemd/start-kubelet"), 0o755);
  await put(join(to, LAYOUT.generator), await packaged("systemd/nodelet-generator"), 0o755);
  await put(join(to, LAYOUT.unit), text);
  await put(join(to, LAYOUT.config), await packaged("systemd/kubelet.yaml"));
  await mkdir(join(to, LAYOUT.manifests), { recursive: true });
  await put(join(to, DOC, "examples/10-kubeadm.conf"), await packaged("kubeadm/10-kubeadm.conf"));
  await put(join(to, DOC, "copyright"), COPYRIGHT);
}
