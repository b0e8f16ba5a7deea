// The pod records of a kubelet that has stopped, as a reboot of the machine leaves them: of another boot.

import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** @param rootDir of a kubelet that does not run */
export async function ageRecords(rootDir: string): Promise<void> {
  const records = join(rootDir, "nodelet", "pods");
  // Beside the records there may be a file that the killed kubelet was writing.
  for (const name of (await readdir(records)).filter((one) => one.endsWith(".json") && !one.startsWith("."))) {
    const record = JSON.parse(await readFile(join(records, name), "utf8")) as object;
    await writeFile(join(records, name), JSON.stringify({ ...record, bootId: "of an earlier boot" }));
  }
}
