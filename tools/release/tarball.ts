// The plain tarball: the tree, and a script that copies it to its places.

import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../standalone/exec.js";
import type { Build } from "./build.js";
import { put, settle } from "./files.js";
import { NAMES } from "./pins.js";
import { script } from "./scripts.js";
import { putCompletions } from "./tree.js";

const GZIP = { small: 6, fast: 1 } as const;
const TIMEOUT_MS = 30 * 60_000;

/** Writes nodelet-<version>-linux-<architecture>.tar.gz into `build.out`; returns its path. */
export async function makeTarball(build: Build): Promise<string> {
  const name = `nodelet-${build.version}-linux-${build.architecture}`;
  const stage = join(build.work, "tar", name);
  await cp(build.tree, join(stage, "root"), { recursive: true });
  await putCompletions(join(stage, "root"), "others");
  const words = { VERSION: build.version, ARCHITECTURE: build.architecture, UNAME: NAMES[build.architecture].uname };
  await put(join(stage, "install.sh"), await script(build.root, "install.sh", words), 0o755);
  await settle(stage, build.epoch);
  const file = join(build.out, `${name}.tar.gz`);
  const same = ["--sort=name", "--format=gnu", "--owner=0", "--group=0", "--numeric-owner", `--mtime=@${build.epoch}`];
  await run(
    "tar",
    [
      ...same,
      `--use-compress-program=gzip -${GZIP[build.compression]}n`,
      "-C",
      join(build.work, "tar"),
      "-cf",
      file,
      name,
    ],
    {
      timeoutMs: TIMEOUT_MS,
    },
  );
  await rm(join(build.work, "tar"), { recursive: true });
  return file;
}
