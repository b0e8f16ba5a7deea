// Makes the test machine's disk once and finds it in the cache afterwards.
// Invariant: a folder of the cache is named by its recipe and renamed into place whole; nothing is mounted on this
// machine (mmdebstrap runs in a mount namespace of its own, the file system is made from a folder).

import { access, chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { run } from "../../tools/standalone/exec.js";
import { errnoOf } from "../../tools/standalone/problem.js";
import { step } from "../../tools/standalone/progress.js";
import { ensureVmPackages } from "./packages.js";
import {
  filesOf,
  KERNEL_SUITE,
  type Kind,
  MASKED,
  packagesOf,
  recipeHash,
  RELEASES,
  type Suite,
  textOf,
  WANTED,
} from "./recipe.js";

export interface VmImage {
  disk: string;
  kernel: string;
  initrd: string;
}

/** tools/build is plain JavaScript. */
interface Locks {
  withLock: (name: string, work: () => Promise<void>) => Promise<void>;
}

const BUILD_TIMEOUT_MS = 8 * 60_000;
/** Above the kubelets of the other lanes (docs/adr/0007). */
const NICENESS = -10;
const DISK_SIZE = "3G";
const DEFAULT_MIRROR = "http://deb.debian.org/debian";

/** Outside the sources: it outlives a checkout. NODELET_VM_CACHE names another place. */
const CACHE = process.env["NODELET_VM_CACHE"] ?? "/var/cache/nodelet-vm";

/** The image for the recipe; about a minute when it has to be made. */
export async function vmImage(root: string, suite: Suite = KERNEL_SUITE, kind: Kind = "prepared"): Promise<VmImage> {
  const folder = join(CACHE, await nameOf(root, suite, kind));
  if (!(await exists(folder))) {
    const { withLock } = (await import(pathToFileURL(join(root, "tools/build/lock.mjs")).href)) as Locks;
    // Two lanes may need images of one release at the same time.
    await withLock(join(CACHE, suite), async () => {
      if (!(await exists(folder))) await makeImages(root, suite);
    });
  }
  return { disk: join(folder, "disk.img"), kernel: join(folder, "vmlinuz"), initrd: join(folder, "initrd") };
}

/** Makes the images of all test machines. @throws SetupProblem */
export async function makeMachineImages(root: string): Promise<void> {
  await ensureVmPackages();
  for (const suite of RELEASES) await vmImage(root, suite);
}

async function nameOf(root: string, suite: Suite, kind: Kind): Promise<string> {
  return `${familyOf(suite, kind)}-${await recipeHash(root, process.execPath, suite, kind)}`;
}

function familyOf(suite: Suite, kind: Kind): string {
  return kind === "prepared" ? suite : `${kind}-${suite}`;
}

/** Installs the release once, and makes both kinds of it. */
async function makeImages(root: string, suite: Suite): Promise<void> {
  const kernel = suite === KERNEL_SUITE ? undefined : await vmImage(root);
  await mkdir(CACHE, { recursive: true });
  const work = await mkdtemp(join(CACHE, "build-"));
  try {
    const tree = join(work, "root");
    await step(`installing ${suite} for the test machines`, () => bootstrap(tree, suite));
    if (kernel !== undefined)
      await run("debugfs", ["-R", `rdump /usr/lib/modules ${join(tree, "usr/lib")}`, kernel.disk]);
    // Files of a prepared machine replace Debian's own.
    for (const kind of ["fresh", "prepared"] as const) await makeImage(root, tree, { suite, kind, kernel, work });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function makeImage(
  root: string,
  tree: string,
  { suite, kind, kernel, work }: { suite: Suite; kind: Kind; kernel: VmImage | undefined; work: string },
): Promise<void> {
  const made = join(work, kind);
  await mkdir(made);
  await dress(root, tree, process.execPath, kind);
  if (kernel === undefined) await takeKernel(tree, made);
  else for (const file of [kernel.kernel, kernel.initrd]) await copyFile(file, join(made, basename(file)));
  await step(`making the disk of a ${kind} ${suite}`, () => makeFileSystem(tree, join(made, "disk.img"), DISK_SIZE));
  const name = await nameOf(root, suite, kind);
  await rename(made, join(CACHE, name)).catch((error: unknown) => {
    // Only the other kind was missing.
    if (errnoOf(error) !== "ENOTEMPTY" && errnoOf(error) !== "EEXIST") throw error;
  });
  await removeOthers(name, familyOf(suite, kind));
}

async function bootstrap(tree: string, suite: Suite): Promise<void> {
  const { mirror, proxy } = await aptSettings(suite);
  const inside = ["--mount", "--pid", "--fork", "--kill-child", "--"];
  const how = ["--quiet", "--mode=root", "--variant=minbase", `--include=${packagesOf(suite).join(",")}`];
  // It needs one processor for half a minute. debootstrap needed two, and sixteen beside the kubelets of other lanes.
  await run("nice", ["-n", String(NICENESS), "unshare", ...inside, "mmdebstrap", ...how, suite, tree, mirror], {
    timeoutMs: BUILD_TIMEOUT_MS,
    env: { DEBIAN_FRONTEND: "noninteractive", ...(proxy === "" ? {} : { http_proxy: proxy }) },
  });
}

/** The mirror this machine's apt uses for the release, and its proxy. */
async function aptSettings(suite: Suite): Promise<{ mirror: string; proxy: string }> {
  const targets = await run("apt-get", ["indextargets", "--format", "$(SITE) $(RELEASE) $(COMPONENT)"]).catch(() => "");
  const site = targets
    .split("\n")
    .map((line) => line.split(" "))
    .find(([, release, component]) => release === suite && component === "main")?.[0];
  const proxy = await run("apt-config", ["shell", "P", "Acquire::http::Proxy"]).catch(() => "");
  return { mirror: site ?? DEFAULT_MIRROR, proxy: /^P='(.*)'/m.exec(proxy)?.[1] ?? "" };
}

/** Our files, units and Node over what mmdebstrap made. */
async function dress(root: string, tree: string, node: string, kind: Kind): Promise<void> {
  for (const file of filesOf(kind)) {
    const path = join(tree, file.path);
    await mkdir(dirname(path), { recursive: true });
    await rm(path, { force: true });
    await writeFile(path, await textOf(root, file), { mode: 0o644 });
  }
  if (kind === "prepared") {
    await copyFile(node, join(tree, "usr/bin/node"));
    await chmod(join(tree, "usr/bin/node"), 0o755);
  }
  const units = join(tree, "etc/systemd/system");
  for (const [link, target] of Object.entries(WANTED)) await putLink(target, join(units, link));
  for (const unit of MASKED) await putLink("/dev/null", join(units, unit));
  await rm(join(tree, "var/cache/apt"), { recursive: true, force: true });
}

async function putLink(target: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await rm(path, { force: true });
  await symlink(target, path);
}

/** Out of the tree: QEMU loads the kernel itself. */
async function takeKernel(tree: string, made: string): Promise<void> {
  const boot = join(tree, "boot");
  for (const [prefix, name] of [
    ["vmlinuz-", "vmlinuz"],
    ["initrd.img-", "initrd"],
  ] as const) {
    const found = (await readdir(boot)).find((file) => file.startsWith(prefix));
    if (found === undefined) throw new Error(`mmdebstrap left no ${prefix}* in ${boot}`);
    await copyFile(join(boot, found), join(made, name));
  }
}

/** A file with an ext4 file system that holds the contents of `folder`; `size` as mke2fs reads it. */
export async function makeFileSystem(folder: string, file: string, size: string): Promise<void> {
  await run("mke2fs", ["-q", "-F", "-t", "ext4", "-O", "^has_journal", "-d", folder, file, size]);
}

/** Images of earlier recipes; a build under way is left alone. */
async function removeOthers(name: string, family: string): Promise<void> {
  // Names without a release are of older versions of this file.
  const names = new RegExp(`^(${family}-)?[0-9a-f]{16}$`);
  const old = (await readdir(CACHE)).filter((entry) => names.test(entry) && entry !== name);
  for (const entry of old) await rm(join(CACHE, entry), { recursive: true, force: true });
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
