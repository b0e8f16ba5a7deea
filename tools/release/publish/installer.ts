// install.sh of a release, with the address of its files and the public key in it; and the signature that it verifies.

import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { SetupProblem } from "../../standalone/problem.js";
import { put } from "../files.js";
import { exportKey, sign } from "./signature.js";

export interface InstallerOptions {
  /** The project, which has the script. */
  root: string;
  /** Folder with the packages and SHA256SUMS. */
  packages: string;
  key: string;
  /** Address of the folder with the same files. */
  url: string;
}

/** Characters that mean themselves in a shell's double quotes and in a URL. */
const ADDRESS = /^https?:\/\/[\w.:/~%+-]+$/;

/** Writes install.sh and SHA256SUMS.asc beside the packages. @throws SetupProblem */
export async function makeInstaller({ root, packages, key, url }: InstallerOptions): Promise<void> {
  if (!ADDRESS.test(url)) throw new SetupProblem(`--url ${url}: http:// or https:// and a plain path are needed`);
  const sums = join(packages, "SHA256SUMS");
  await access(sums).catch(() => {
    throw new SetupProblem(`${sums} is not there: run make packages first`);
  });
  const text = await readFile(join(root, "tools/release/scripts/get.sh"), "utf8");
  const lines = (await exportKey(key)).toString("base64").match(/.{1,76}/g) ?? [];
  await put(join(packages, "install.sh"), text.replace("@URL@", url).replace("@KEY@", lines.join("\n")), 0o755);
  await sign(sums, { key, form: "beside", to: `${sums}.asc` });
}
