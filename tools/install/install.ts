// Installs the built agent: its code and npm packages into one folder of ours, and the few files outside it.
// Invariant: a `kubelet` that is not ours is never overwritten unasked; an administrator's configuration never is;
// the old code stays whole until the new one is; every file and folder outside our own is on record.

import { cp, lstat, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isExecutable } from "../standalone/exec.js";
import { errnoOf, SetupProblem } from "../standalone/problem.js";
import { makeCodeCache } from "./code-cache.js";
import { copyCode, copyPackage } from "./copy-code.js";
import { KUBEADM_DROP_INS, layoutOf, type Layout } from "./layout.js";
import type { InstallerOptions, Mode } from "./options.js";
import { productionPackages } from "./production-packages.js";
import { readRecord, type InstallRecord } from "./record.js";
import { reloadSystemd } from "./systemd.js";
import { ENTRIES, kubeletScript, NODE_FLAGS, nodeletScript } from "./wrappers.js";

/** Compiled code that runs on the node: the agent, this installer, and what the installer imports. */
const CODE = ["dist/agent", "dist/tools/install", "dist/tools/standalone"];

export async function install(root: string, options: InstallerOptions, say: (line: string) => void): Promise<void> {
  const layout = layoutOf(options);
  const before = await readRecord(layout.at(layout.record));
  const packages = await productionPackages(root);
  await checkGround(root, options, layout, before);
  const mode = options.mode ?? (await guessMode(layout, before));

  const record: InstallRecord = { version: 1, files: [], folders: [...(before?.folders ?? [])] };
  await makeFolders(layout, record, dirname(layout.home));
  await putCode(root, packages, layout);
  // In a staging folder the build's own cache must do: the node's Node is elsewhere.
  if (options.destdir === "") await makeCodeCache(options.node, NODE_FLAGS, join(layout.home, "dist/agent"), say);
  const put = async (path: string, text: string, rights: number): Promise<void> => {
    await makeFolders(layout, record, dirname(path));
    await replaceFile(layout.at(path), text, rights);
    record.files.push(path);
  };
  const packaged = (name: string): Promise<string> => readFile(join(root, "tools/deploy", name), "utf8");
  const withPaths = (text: string): string =>
    text.replaceAll("/usr/bin/kubelet", layout.executable).replaceAll("/etc/nodelet/kubelet.yaml", layout.config);

  await put(layout.executable, kubeletScript(options.node, layout.home), 0o755);
  await put(layout.command, nodeletScript(options.node, layout.home), 0o755);
  await put(layout.unit, withoutManuals(withPaths(await packaged("systemd/kubelet.service"))), 0o644);
  if (mode === "standalone") {
    await put(layout.standaloneDropIn, withPaths(await packaged("systemd/10-standalone.conf")), 0o644);
    await makeFolders(layout, record, layout.manifests);
    await putConfig(layout, record, await packaged("systemd/kubelet.yaml"), say);
  }
  if (mode === "kubeadm") {
    await put(layout.kubeadmDropIn, withPaths(await packaged("kubeadm/10-kubeadm.conf")), 0o644);
  }
  await removeLeftOver(layout, before, record);
  await replaceFile(layout.at(layout.record), `${JSON.stringify(record, undefined, 2)}\n`, 0o644);
  say(
    `installed ${layout.at(layout.executable)}, ${layout.at(layout.command)}, ${layout.at(layout.unit)} (${mode}), ${layout.at(layout.home)}`,
  );
  if (options.destdir !== "" || !(await reloadSystemd())) return;
  say(before === undefined ? "next: systemctl enable --now kubelet" : "next: systemctl restart kubelet");
}

async function checkGround(
  root: string,
  { destdir, node, force }: InstallerOptions,
  layout: Layout,
  before: InstallRecord | undefined,
): Promise<void> {
  if (!(await exists(join(root, ENTRIES.kubelet)))) throw new SetupProblem("not built yet: run make first");
  if (destdir === "" && !(await isExecutable(node))) throw new SetupProblem(`no Node at ${node}: say where with NODE=`);
  for (const path of [layout.executable, layout.command, layout.unit]) {
    if (force || before?.files.includes(path) === true || !(await exists(layout.at(path)))) continue;
    throw new SetupProblem(
      `${layout.at(path)} belongs to another kubelet: remove its package, or choose another PREFIX, or overwrite it with FORCE=1`,
    );
  }
}

/** An update keeps its mode; where a package brought kubeadm's drop-in, that says how to start. */
async function guessMode(layout: Layout, before: InstallRecord | undefined): Promise<Mode> {
  if (before !== undefined) {
    if (before.files.includes(layout.standaloneDropIn)) return "standalone";
    return before.files.includes(layout.kubeadmDropIn) ? "kubeadm" : "plain";
  }
  for (const path of KUBEADM_DROP_INS) if (await exists(layout.at(path))) return "plain";
  return "standalone";
}

async function putCode(root: string, packages: readonly string[], layout: Layout): Promise<void> {
  const home = layout.at(layout.home);
  const [fresh, old] = [`${home}.new`, `${home}.old`];
  for (const left of [fresh, old]) await rm(left, { recursive: true, force: true });
  await mkdir(fresh, { recursive: true, mode: 0o755 });
  for (const folder of CODE) await copyCode(join(root, folder), join(fresh, folder));
  for (const path of packages) await copyPackage(join(root, path), join(fresh, path));
  for (const file of ["package.json", "LICENSE"]) await cp(join(root, file), join(fresh, file));
  const replaced = await exists(home);
  if (replaced) await rename(home, old);
  await rename(fresh, home);
  await rm(old, { recursive: true, force: true });
}

async function putConfig(layout: Layout, record: InstallRecord, text: string, say: (line: string) => void) {
  const path = layout.at(layout.config);
  if (await exists(path)) {
    say(`${path} is left as it is`);
    return;
  }
  await makeFolders(layout, record, dirname(layout.config));
  await replaceFile(path, text, 0o644);
}

/** Files outside our folder that only the earlier version or mode had. */
async function removeLeftOver(layout: Layout, before: InstallRecord | undefined, now: InstallRecord): Promise<void> {
  for (const path of before?.files ?? []) {
    if (!now.files.includes(path)) await rm(layout.at(path), { force: true });
  }
}

/** Makes the folder and its parents, noting those that were not there. */
async function makeFolders(layout: Layout, record: InstallRecord, folder: string): Promise<void> {
  if (folder === "/" || (await exists(layout.at(folder)))) return;
  await makeFolders(layout, record, dirname(folder));
  await mkdir(layout.at(folder), { mode: 0o755, recursive: true });
  if (!record.folders.includes(folder)) record.folders.push(folder);
}

/** In one step, so that systemd never reads half a unit. */
async function replaceFile(path: string, text: string, rights: number): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: rights });
  await rename(`${path}.new`, path);
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return false;
    throw error;
  }
}

/** Manual pages come with packages only, and systemd-analyze finds fault with a unit whose page is missing. */
function withoutManuals(unit: string): string {
  return unit.replace(/^Documentation=man:.*\n/m, "");
}
