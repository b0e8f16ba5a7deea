// Finds a program as a root shell would, also for a user whose path lacks the folders of administrators.

import { access, constants } from "node:fs/promises";
import { join } from "node:path";

const FOLDERS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** Its path; undefined: it is not installed. */
export async function findProgram(name: string, root = ""): Promise<string | undefined> {
  const path = root === "" ? (process.env["PATH"] ?? "").split(":") : [];
  for (const folder of new Set([...FOLDERS, ...path.filter((one) => one.startsWith("/"))])) {
    const file = join(root, folder, name);
    const found = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return file;
  }
  return undefined;
}
