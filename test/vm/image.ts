// Makes the test machine's disk once and finds it in the cache afterwards.
// Invariant: a folder of the cache is named by its recipe and renamed into place whole; nothing is mounted on this
// machine (mmdebstrap runs in a mount namespace of its own, the file system is made from a folder).

import { access, chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { run } from "../../packaging/standalone/exec.js";
import { errnoOf } from "../../packaging/standalone/problem.js";
import { step } from "../../packaging/standalone/progress.js";
import {
  filesOf,
  KERNEL_SUITE,
  type Kind,
  MASKED,
  packagesOf,
  recipeHash,
  type Suite,
  textOf,
  WANTED,
} from "./recipe.js";

export interface VmImage {
  disk: string;
  kernel: string;
  initrd: string;
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
  const node = process.execPath;
  const family = kind === "prepared" ? suite : `${kind}-${suite}`;
  const name = `${family}-${await recipeHash(root, node, suite, kind)}`;
  const folder = join(CACHE, name);
  const image = { disk: join(folder, "disk.img"), kernel: join(folder, "vmlinuz"), initrd: join(folder, "initrd") };
  if (await exists(folder)) return image;
  const kernel = suite === KERNEL_SUITE && kind === "prepared" ? undefined : await vmImage(root);
  await mkdir(CACHE, { recursive: true });
  const work = await mkdtemp(join(CACHE, "build-"));
  try {
    const tree = join(work, "root");
    const made = join(work, "made");
    await mkdir(made);
    await step(`installing ${family} for the test machine`, () => bootstrap(tree, suite, kind));
    await dress(root, tree, node, kind);
    if (kernel === undefined) await takeKernel(tree, made);
    else await borrowKernel(kernel, tree, made);
    await step("making the test machine's disk", () => makeFileSystem(tree, join(made, "disk.img"), DISK_SIZE));
    await rename(made, folder).catch((error: unknown) => {
      // Another run has built the same image in the meantime.
      if (errnoOf(error) !== "ENOTEMPTY" && errnoOf(error) !== "EEXIST") throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  await removeOthers(name, family);
  return image;
}

async function bootstrap(tree: string, suite: Suite, kind: Kind): Promise<void> {
  const { mirror, proxy } = await aptSettings(suite);
  const inside = ["--mount", "--pid", "--fork", "--kill-child", "--"];
  const how = ["--quiet", "--mode=root", "--variant=minbase", `--include=${packagesOf(suite, kind).join(",")}`];
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

/** Kernel and modules of another machine's image. */
async function borrowKernel({ kernel, initrd, disk }: VmImage, tree: string, made: string): Promise<void> {
  await copyFile(kernel, join(made, "vmlinuz"));
  await copyFile(initrd, join(made, "initrd"));
  await run("debugfs", ["-R", `rdump /usr/lib/modules ${join(tree, "usr/lib")}`, disk]);
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
