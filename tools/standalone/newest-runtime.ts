// Kubernetes 1.36 is made for containerd 2, and Debian 12 has 1.6. Debian's newest suite has containerd 2 and runc 1.3.
// They are unpacked below a folder of ours and run there.
// Invariant: nothing of the machine changes; a second run needs no network.

import { access, readdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { run } from "./exec.js";
import { SetupProblem } from "./problem.js";
import { isUnpacked, NEWEST_SUITE, unpackPackages } from "./unpacked-packages.js";

/**
 * "installed" (default): the programs on the path. "newest": of Debian's newest suite. Otherwise the folder of the
 * programs.
 */
const RUNTIME_VARIABLE = "NODELET_CONTAINERD";

/** runc needs a newer C library than Debian 12's; patchelf gives it that one. */
const PACKAGES = ["containerd", "runc", "libc6", "libseccomp2", "patchelf", "libstdc++6", "libgcc-s1"];

export interface NewestRuntime {
  /** Survives runs: the unpacked packages. */
  cacheDir: string;
  step: <T>(name: string, work: () => Promise<T>) => Promise<T>;
  env?: Readonly<Record<string, string | undefined>>;
}

/** Puts the programs that the environment asks for first on the path of this process. @throws SetupProblem */
export async function chooseRuntime({ cacheDir, step, env = process.env }: NewestRuntime): Promise<void> {
  const programs = await programsOf(env[RUNTIME_VARIABLE], cacheDir, step);
  if (programs !== undefined) process.env["PATH"] = [programs, process.env["PATH"] ?? ""].join(delimiter);
}

/**
 * The folder of containerd's programs for a value of NODELET_CONTAINERD; undefined: those on the path.
 * @throws SetupProblem
 */
export async function programsOf(
  choice = "installed",
  cacheDir: string,
  step: NewestRuntime["step"],
): Promise<string | undefined> {
  if (choice === "installed") return undefined;
  const programs = choice === "newest" ? await newestPrograms(cacheDir, step) : choice;
  for (const name of ["containerd", "ctr", "runc"]) {
    await access(join(programs, name)).catch(() => {
      throw new SetupProblem(`${RUNTIME_VARIABLE}=${choice}: there is no program ${join(programs, name)}`);
    });
  }
  return programs;
}

/** The folder with containerd, its shim, ctr and runc. */
export async function newestPrograms(cacheDir: string, step: NewestRuntime["step"]): Promise<string> {
  const folder = join(cacheDir, `containerd-${NEWEST_SUITE}`);
  const programs = join(folder, "usr", "bin");
  const unpacking = {
    folder,
    program: join(programs, "containerd"),
    suite: NEWEST_SUITE,
    packages: PACKAGES,
    problem: { what: `${RUNTIME_VARIABLE}=newest`, remedy: "unset it to use the installed containerd" },
    prepare: (incoming: string) => bindToOwnLibrary(incoming, folder),
  };
  if (!(await isUnpacked(unpacking))) {
    const what = `unpacking containerd 2 and runc of Debian ${NEWEST_SUITE} below ${folder}`;
    await step(what, () => unpackPackages(unpacking));
  }
  return programs;
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
