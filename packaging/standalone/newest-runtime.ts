// Kubernetes 1.36 is made for containerd 2, and Debian 12 has 1.6. Debian's newest suite has containerd 2 and runc 1.3:
// they are unpacked below a folder of ours and run from there.
// Invariant: nothing of the machine changes. apt keeps its lists, its state and its cache below the folder, and checks the signature of the
// suite and the hash of every package; a second run needs no network.

import { access, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { findExecutable, isCommandFailed, run } from "./exec.js";
import { SetupProblem } from "./problem.js";

/** "installed" (default): what is on the path. "newest": of Debian's newest suite. Otherwise the folder of the programs. */
const RUNTIME_VARIABLE = "NODELET_CONTAINERD";

const SUITE = "sid";
const MIRROR = "http://deb.debian.org/debian";
const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";
/** runc needs a newer C library than Debian 12's; patchelf gives it that one. */
const PACKAGES = ["containerd", "runc", "libc6", "libseccomp2", "patchelf", "libstdc++6", "libgcc-s1"];
const DOWNLOAD_MS = 10 * 60_000;

export interface NewestRuntime {
  /** Survives runs: the unpacked packages. */
  cacheDir: string;
  step: <T>(name: string, work: () => Promise<T>) => Promise<T>;
  env?: Readonly<Record<string, string | undefined>>;
}

/** Puts the programs that the environment asks for first on the path of this process. @throws SetupProblem */
export async function chooseRuntime({ cacheDir, step, env = process.env }: NewestRuntime): Promise<void> {
  const choice = env[RUNTIME_VARIABLE] ?? "installed";
  if (choice === "installed") return;
  const programs = choice === "newest" ? await newestPrograms(cacheDir, step) : choice;
  for (const name of ["containerd", "ctr", "runc"]) {
    await access(join(programs, name)).catch(() => {
      throw new SetupProblem(`${RUNTIME_VARIABLE}=${choice}: there is no program ${join(programs, name)}`);
    });
  }
  process.env["PATH"] = [programs, process.env["PATH"] ?? ""].join(delimiter);
}

/** The folder with containerd, its shim, ctr and runc. */
async function newestPrograms(cacheDir: string, step: NewestRuntime["step"]): Promise<string> {
  const folder = join(cacheDir, `containerd-${SUITE}`);
  const programs = join(folder, "usr", "bin");
  const isThere = await access(join(programs, "containerd")).then(
    () => true,
    () => false,
  );
  if (!isThere) {
    await step(`unpacking containerd 2 and runc of Debian ${SUITE} below ${folder}`, () => unpack(cacheDir, folder));
  }
  return programs;
}

async function unpack(cacheDir: string, folder: string): Promise<void> {
  const apt = join(cacheDir, "apt");
  const incoming = `${folder}.incoming`;
  try {
    for (const path of [apt, incoming]) await rm(path, { recursive: true, force: true });
    const packages = await download(apt);
    await mkdir(incoming, { recursive: true, mode: 0o755 });
    for (const file of packages) await run("dpkg-deb", ["--extract", file, incoming]);
    await bindToOwnLibrary(incoming, folder);
    await rm(folder, { recursive: true, force: true });
    await rename(incoming, folder);
  } catch (error) {
    if (isCommandFailed(error)) {
      throw new SetupProblem(`${RUNTIME_VARIABLE}=newest: ${error.message}; unset it to use the installed containerd`);
    }
    throw error;
  } finally {
    for (const path of [apt, incoming]) await rm(path, { recursive: true, force: true });
  }
}

/** Returns the paths of the packages. */
async function download(apt: string): Promise<string[]> {
  if ((await findExecutable("apt-get")) === undefined) {
    throw new SetupProblem(`${RUNTIME_VARIABLE}=newest needs apt-get: unset it to use the installed containerd`);
  }
  const [etc, state, lists, cache] = ["etc", "state", "lists", "cache"].map((name) => join(apt, name)) as [
    string,
    string,
    string,
    string,
  ];
  const folders = ["apt.conf.d", "preferences.d", "sources.list.d"].map((name) => join(etc, name));
  for (const path of [...folders, state, join(lists, "partial"), join(cache, "archives", "partial")]) {
    await mkdir(path, { recursive: true });
  }
  await writeFile(join(state, "status"), "");
  await writeFile(join(etc, "sources.list"), `deb [signed-by=${KEYRING}] ${MIRROR} ${SUITE} main\n`);
  const options = [
    `Dir::Etc=${etc}`,
    `Dir::State=${state}`,
    `Dir::State::status=${join(state, "status")}`,
    `Dir::State::lists=${lists}`,
    `Dir::Cache=${cache}`,
    // The folder is root's: apt's own user could not write there.
    "APT::Sandbox::User=root",
    "Acquire::Languages=none",
    "Acquire::Retries=3",
  ].flatMap((option) => ["-o", option]);
  const into = { cwd: cache, timeoutMs: DOWNLOAD_MS };
  await run("apt-get", [...options, "-q", "update"], into);
  await run("apt-get", [...options, "-q", "download", ...PACKAGES], into);
  return (await readdir(cache)).filter((name) => name.endsWith(".deb")).map((name) => join(cache, name));
}

/** runc loads the C library that was unpacked with it, under the path that the folder will have. */
async function bindToOwnLibrary(incoming: string, folder: string): Promise<void> {
  const libraries = join("usr", "lib", await only(join(incoming, "usr", "lib"), (name) => name.endsWith("-linux-gnu")));
  const loader = join(libraries, await only(join(incoming, libraries), (name) => /^ld-linux.*\.so\.\d+$/.test(name)));
  const patchelf = ["--library-path", join(incoming, libraries), join(incoming, "usr", "bin", "patchelf")];
  const changes = ["--set-interpreter", join(folder, loader), "--set-rpath", join(folder, libraries)];
  await run(join(incoming, loader), [...patchelf, ...changes, join(incoming, "usr", "sbin", "runc")]);
}

async function only(folder: string, wanted: (name: string) => boolean): Promise<string> {
  const [name, another] = (await readdir(folder)).filter(wanted);
  if (name === undefined || another !== undefined) throw new SetupProblem(`unexpected files in ${folder}`);
  return name;
}
