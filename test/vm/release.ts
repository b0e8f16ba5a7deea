// The packages under test: an older one and that of today, for this machine's processor, made once for all machines.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { release } from "../../tools/release/release.js";
import { step } from "../../tools/standalone/progress.js";
import { ensureVmPackages } from "./packages.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
export const OLDER = "0.0.9";

export interface Packages {
  older: string;
  deb: string;
  rpm: string;
  /** A folder for what the tests unpack. */
  dir: string;
  remove: () => Promise<void>;
}

/** Without `older`, and without an .rpm, it takes a third of the time: these paths are empty then. */
export async function makePackages({ older: two = true } = {}): Promise<Packages> {
  await ensureVmPackages();
  const dir = await mkdtemp(join(tmpdir(), "nodelet-vm-packages-"));
  const remove = (): Promise<void> => rm(dir, { recursive: true, force: true });
  const make = async (formats: readonly ("deb" | "rpm")[], version?: string): Promise<string[]> =>
    release(
      ROOT,
      { architectures: ["amd64"], formats, out: join(dir, version ?? "now"), version, fast: true },
      { say, step },
    );
  try {
    const [older] = two ? await make(["deb"], OLDER) : [];
    const [deb, rpm] = await make(two ? ["deb", "rpm"] : ["deb"]);
    return { older: older ?? "", deb: deb ?? "", rpm: rpm ?? "", dir, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
