// Debian packages that the machine of the test needs: found by their files, installed after a message.

import { access } from "node:fs/promises";
import { findExecutable } from "../../tools/standalone/exec.js";
import { ensurePackages, findStaticBusybox } from "../../tools/standalone/packages.js";
import { SetupProblem } from "../../tools/standalone/problem.js";
import { step } from "../../tools/standalone/progress.js";

const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

const REQUIREMENTS: readonly { package: string; present: () => Promise<boolean> }[] = [
  { package: "qemu-system-x86", present: () => isThere("qemu-system-x86_64") },
  { package: "qemu-user-static", present: () => isThere("qemu-aarch64-static") },
  { package: "mmdebstrap", present: () => isThere("mmdebstrap") },
  { package: "debian-archive-keyring", present: () => access(KEYRING).then(yes, no) },
  { package: "e2fsprogs", present: () => isThere("mke2fs") },
  { package: "rpm", present: async () => (await isThere("rpmbuild")) && (await isThere("rpm2archive")) },
  { package: "util-linux", present: async () => (await isThere("setpriv")) && (await isThere("unshare")) },
  { package: "busybox-static", present: async () => (await findStaticBusybox()) !== undefined },
];

/** Throws SetupProblem when this machine cannot make or run the test machine. */
export async function ensureVmPackages(): Promise<void> {
  if (process.arch !== "x64") throw new SetupProblem(`the test machine is x86-64, this one is ${process.arch}`);
  if (process.getuid?.() !== 0) throw new SetupProblem("not root: mmdebstrap needs it; run the same command with sudo");
  await ensurePackages({ say: (line) => process.stderr.write(`${line}\n`), step, findMissing });
}

async function findMissing(): Promise<string[]> {
  const present = await Promise.all(REQUIREMENTS.map((requirement) => requirement.present()));
  return REQUIREMENTS.filter((_, index) => present[index] !== true).map((requirement) => requirement.package);
}

async function isThere(name: string): Promise<boolean> {
  return (await findExecutable(name)) !== undefined;
}

const yes = (): boolean => true;
const no = (): boolean => false;
