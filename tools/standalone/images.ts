// The first pod must run without a registry. Two images are made on the machine: a pause image from our own program and
// a busybox image from Debian's static busybox.
// Invariant: an archive in the cache is named by the hash of all its inputs. It is written to a temporary name and
// renamed, so a half-written one is never used.

import { createHash } from "node:crypto";
import { access, chmod, copyFile, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./exec.js";
import { writeOciArchive, type ImageSpec } from "./oci-archive.js";
import { findStaticBusybox } from "./packages.js";
import { PAUSE_SCRIPT, pauseProgram } from "./pause-program.js";
import { SetupProblem } from "./problem.js";

export const PAUSE_IMAGE = "nodelet.local/pause:1";
export const BUSYBOX_IMAGE = "nodelet.local/busybox:1";

/** Changes whenever the layout of the images does, so that old cached archives are not used. */
const RECIPE = "2";
const PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const PASSWD =
  "root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1:daemon:/:/bin/false\nnobody:x:65534:65534:nobody:/:/bin/false\n";
const GROUP = "root:x:0:\ndaemon:x:1:\nnogroup:x:65534:\n";

/** Path of an OCI archive with both images, made on the first call and found in `cacheDir` afterwards. */
export async function buildImages(cacheDir: string, arch: string = process.arch): Promise<string> {
  const busybox = await findStaticBusybox();
  if (busybox === undefined) throw new SetupProblem("no statically linked busybox on the path: install busybox-static");
  const binary = await readFile(busybox);
  const pause = arch === "x64" ? pauseProgram() : Buffer.from(PAUSE_SCRIPT);
  const inputs = [RECIPE, arch, PAUSE_IMAGE, BUSYBOX_IMAGE, PASSWD, GROUP, PATH, pause, binary];
  const hash = inputs.reduce((sum, input) => sum.update(input).update("\0"), createHash("sha256")).digest("hex");
  const archive = join(cacheDir, `images-${hash.slice(0, 16)}.tar`);
  if (await exists(archive)) return archive;

  await mkdir(cacheDir, { recursive: true });
  const workDir = await mkdtemp(join(cacheDir, "build-"));
  try {
    const busyboxSpec = await busyboxImage(join(workDir, "busybox"), busybox);
    const pauseSpec = await pauseImage(join(workDir, "pause"), busybox, arch);
    const temporary = join(workDir, "images.tar");
    await writeOciArchive([pauseSpec, busyboxSpec], temporary, workDir);
    await rename(temporary, archive);
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
  return archive;
}

/** Imports the archive into a containerd through its own `ctr`, into the namespace the CRI plugin watches. */
export async function importImages(socket: string, archive: string, ctr = "ctr"): Promise<void> {
  await run(ctr, ["--address", socket, "--namespace", "k8s.io", "images", "import", archive]);
}

async function pauseImage(rootfs: string, busybox: string, arch: string): Promise<ImageSpec> {
  if (arch !== "x64") {
    await mkdir(join(rootfs, "bin"), { recursive: true });
    await copyFile(busybox, join(rootfs, "bin", "busybox"));
    await chmod(join(rootfs, "bin", "busybox"), 0o755);
    await makeRootTidy(rootfs);
    const command = ["/bin/busybox", "sh", "-c", PAUSE_SCRIPT];
    return { reference: PAUSE_IMAGE, rootfs, config: { Env: [PATH], Entrypoint: command, WorkingDir: "/" } };
  }
  await mkdir(rootfs, { recursive: true });
  await writeFile(join(rootfs, "pause"), pauseProgram());
  await chmod(join(rootfs, "pause"), 0o755);
  await makeRootTidy(rootfs);
  return { reference: PAUSE_IMAGE, rootfs, config: { Env: [PATH], Entrypoint: ["/pause"], WorkingDir: "/" } };
}

async function busyboxImage(rootfs: string, busybox: string): Promise<ImageSpec> {
  for (const folder of ["bin", "etc", "root", "tmp", "var", "home", "proc", "sys", "dev"]) {
    await mkdir(join(rootfs, folder), { recursive: true });
  }
  await copyFile(busybox, join(rootfs, "bin", "busybox"));
  await chmod(join(rootfs, "bin", "busybox"), 0o755);
  const applets = (await run(busybox, ["--list"])).split("\n").filter((name) => name !== "" && name !== "busybox");
  for (const applet of applets) await symlink("busybox", join(rootfs, "bin", applet));
  await writeFile(join(rootfs, "etc", "passwd"), PASSWD);
  await writeFile(join(rootfs, "etc", "group"), GROUP);
  await chmod(join(rootfs, "root"), 0o700);
  await makeRootTidy(rootfs);
  await chmod(join(rootfs, "tmp"), 0o1777);
  return { reference: BUSYBOX_IMAGE, rootfs, config: { Env: [PATH], Cmd: ["sh"], WorkingDir: "/" } };
}

/** File modes must not depend on the umask of the build: they are part of the layer and its digest. */
async function makeRootTidy(rootfs: string): Promise<void> {
  await run("chmod", ["-R", "u=rwX,go=rX", rootfs]);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
