// A fresh Debian has Node and little else. Missing packages are found by the files that they provide, not by dpkg. So
// other distributions and manual installations count, too.
// Invariant: nothing is installed before its name was printed; NODELET_NO_APT=1 never installs anything. Installing
// containerd may start the system's own containerd: we never open its socket, root or state directory.

import { open } from "node:fs/promises";
import { join } from "node:path";
import { findExecutable, isCommandFailed, isExecutable, run } from "./exec.js";
import { SetupProblem } from "./problem.js";
import type { Note, Step } from "./progress.js";

const APT_TIMEOUT_MS = 15 * 60_000;
/** Debian's place first, then the upstream one. */
const CNI_BIN_DIRS: readonly string[] = ["/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"];
const CNI_PLUGINS = ["bridge", "host-local", "portmap", "loopback"];

interface Requirement {
  /** Debian package. */
  package: string;
  /** Not needed when a running runtime is used. */
  runtimeOnly?: true;
  /** True when what we need of it is there. */
  present: () => Promise<boolean>;
}

const executables =
  (...names: string[]) =>
  async (): Promise<boolean> =>
    (await Promise.all(names.map(findExecutable))).every((path) => path !== undefined);

const REQUIREMENTS: readonly Requirement[] = [
  { package: "containerd", runtimeOnly: true, present: executables("containerd", "containerd-shim-runc-v2", "ctr") },
  { package: "runc", runtimeOnly: true, present: executables("runc") },
  {
    package: "containernetworking-plugins",
    runtimeOnly: true,
    present: async () => (await findCniBinDir()) !== undefined,
  },
  { package: "iptables", runtimeOnly: true, present: executables("iptables") },
  { package: "busybox-static", present: async () => (await findStaticBusybox()) !== undefined },
  { package: "iproute2", present: executables("ip") },
  { package: "util-linux", present: executables("nsenter") },
  { package: "mount", present: executables("mount", "umount") },
  { package: "tar", present: executables("tar") },
];

/** Debian packages whose files are missing, in the order they would be installed; `more` are wanted besides. */
export async function missingPackages(runtimeIsThere = false, more: readonly ProgramPackage[] = []): Promise<string[]> {
  const needed = REQUIREMENTS.filter(({ runtimeOnly }) => !(runtimeIsThere && runtimeOnly === true));
  const present = await Promise.all(needed.map((requirement) => requirement.present()));
  const missing = needed.filter((_, index) => present[index] !== true).map((requirement) => requirement.package);
  return [...missing, ...(await missingPrograms(more))];
}

/** A Debian package, known to be there by one of its programs. */
export interface ProgramPackage {
  /** Debian package. */
  name: string;
  program: string;
}

/** Names of those packages whose program is in no folder of PATH. */
export async function missingPrograms(wanted: readonly ProgramPackage[]): Promise<string[]> {
  const found = await Promise.all(wanted.map(({ program }) => findExecutable(program)));
  return wanted.filter((_, index) => found[index] === undefined).map(({ name }) => name);
}

/** The first folder that has all CNI plugins we configure. */
export async function findCniBinDir(directories: readonly string[] = CNI_BIN_DIRS): Promise<string | undefined> {
  for (const directory of directories) {
    const found = await Promise.all(CNI_PLUGINS.map((plugin) => isExecutable(join(directory, plugin))));
    if (found.every(Boolean)) return directory;
  }
  return undefined;
}

/** A busybox that runs in an empty root file system: an ELF file without an interpreter. */
export async function findStaticBusybox(): Promise<string | undefined> {
  const path = await findExecutable("busybox");
  return path !== undefined && (await isStaticElf(path)) ? path : undefined;
}

/** True for a 64- or 32-bit little-endian ELF file that has no PT_INTERP program header. */
export async function isStaticElf(path: string): Promise<boolean> {
  const PT_INTERP = 3;
  const file = await open(path, "r");
  try {
    const head = Buffer.alloc(4096);
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    if (bytesRead < 64 || head.toString("latin1", 0, 4) !== "\u007fELF") return false;
    const wide = head[4] === 2;
    const tableOffset = wide ? Number(head.readBigUInt64LE(32)) : head.readUInt32LE(28);
    const entrySize = head.readUInt16LE(wide ? 54 : 42);
    const entries = head.readUInt16LE(wide ? 56 : 44);
    for (let index = 0; index < entries; index++) {
      const at = tableOffset + index * entrySize;
      if (at + 4 > bytesRead) return false;
      if (head.readUInt32LE(at) === PT_INTERP) return false;
    }
    return true;
  } finally {
    await file.close();
  }
}

export interface InstallDependencies {
  /** Tells the user, one line. */
  say: (line: string) => void;
  /** Wraps a slow step. */
  step: Step;
  env?: Readonly<Record<string, string | undefined>>;
  /** True when a running runtime is used: then what only a private one needs may be missing. */
  runtimeIsThere?: boolean;
  /** How to find out; replaced in tests. */
  findMissing?: (runtimeIsThere: boolean) => Promise<string[]>;
  findAptGet?: () => Promise<string | undefined>;
}

/** Prints the missing packages and installs them with apt-get. Throws SetupProblem when it may not or cannot. */
export async function ensurePackages(dependencies: InstallDependencies): Promise<string[]> {
  const { say, step, env = process.env, runtimeIsThere = false, findMissing = missingPackages } = dependencies;
  const findAptGet = dependencies.findAptGet ?? ((): Promise<string | undefined> => findExecutable("apt-get"));
  const missing = await findMissing(runtimeIsThere);
  if (missing.length === 0) return [];
  const list = missing.join(" ");
  if (env["NODELET_NO_APT"] === "1") {
    throw new SetupProblem(`missing Debian packages, and NODELET_NO_APT=1 forbids installing them: ${list}`);
  }
  const aptGet = await findAptGet();
  if (aptGet === undefined) {
    throw new SetupProblem(
      `no apt-get on this machine: install what these Debian packages provide, then retry: ${list}`,
    );
  }
  say(`Missing on this machine, to be installed with apt-get: ${list}`);
  const options = {
    env: { DEBIAN_FRONTEND: "noninteractive", NEEDRESTART_SUSPEND: "1" },
    timeoutMs: APT_TIMEOUT_MS,
  };
  const flags = ["-q", "-y", "-o", "DPkg::Lock::Timeout=120", "-o", "Dpkg::Use-Pty=0"];
  try {
    const apt = (...words: string[]) => {
      return (note: Note): Promise<string> =>
        run(aptGet, [...flags, ...words], { ...options, onLine: (line) => noteApt(line, note) });
    };
    await step("apt-get update", apt("update"));
    await step(`apt-get install ${list}`, apt("--no-install-recommends", "install", ...missing));
  } catch (error) {
    if (isCommandFailed(error)) throw new SetupProblem(`installing packages: ${error.message}`);
    throw error;
  }
  const still = await findMissing(runtimeIsThere);
  if (still.length > 0) throw new SetupProblem(`apt-get succeeded, yet files are missing of: ${still.join(" ")}`);
  return missing;
}

/** What apt-get is at, of a line of its output: "fetching 3: containerd", "unpacking containerd". */
export function noteApt(line: string, note: Note): void {
  // Get:3 http://deb.debian.org/debian bookworm/main amd64 containerd amd64 1.6.20~ds1-1+deb12u1 [25.9 MB]
  const [first = "", , where = "", , name = "["] = line.split(" ");
  if (/^Get:\d+$/.test(first)) note(`fetching ${first.slice("Get:".length)}: ${name.startsWith("[") ? where : name}`);
  else if (first === "Unpacking" || first === "Preparing") note(line.replace(/ \.\.\.$/, "").replace(/^\w/, lower));
  else if (line.startsWith("Setting up ")) note(`setting up ${line.split(" ")[2] ?? ""}`);
}

const lower = (letter: string): string => letter.toLowerCase();
