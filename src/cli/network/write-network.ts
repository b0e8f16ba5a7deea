// Writes the pod network of a node that has none, and a record by which a purge finds it again.
// Invariant: a folder with any configuration is left as it is, and no file is ever replaced: the name is given to the
// finished file, which fails if the name is taken.

import { createHash, randomBytes } from "node:crypto";
import { chmod, link, mkdir, open, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { atomicWrite } from "../../shared/io/fs/atomic-write.js";
import { configurationsIn } from "./cni-files.js";
import { CONFLIST, conflistText } from "./conflist.js";
import type { Network } from "./ipv4.js";
import type { Network6 } from "./ipv6.js";

/** As `sha256sum --check` reads it; the scripts of the packages do. */
const RECORD = "/var/lib/kubelet/nodelet/network.sha256";

/** The path of the new file; undefined: the folder has a configuration. */
export async function writeNetwork(
  folder: string,
  { range, range6 }: { range: Network; range6?: Network6 | undefined },
  record = RECORD,
): Promise<string | undefined> {
  if ((await configurationsIn(folder)).length > 0) return undefined;
  const text = conflistText(range, range6);
  const path = join(folder, CONFLIST);
  // A runtime that is not root's may read both, whatever the umask is.
  if ((await mkdir(folder, { recursive: true })) !== undefined) await chmod(folder, 0o755);
  await mkdir(dirname(record), { recursive: true, mode: 0o700 });
  const sum = createHash("sha256").update(text).digest("hex");
  await atomicWrite(record, `${sum}  ${path}\n`);
  // Runtimes skip this name: it has another ending.
  const temporary = join(folder, `.${CONFLIST}-${randomBytes(6).toString("hex")}`);
  const file = await open(temporary, "wx", 0o644);
  try {
    await file.writeFile(text);
    await file.chmod(0o644);
    await file.sync();
    if ((await configurationsIn(folder)).length > 0) return undefined;
    await link(temporary, path);
    return path;
  } finally {
    await file.close();
    await unlink(temporary);
  }
}
