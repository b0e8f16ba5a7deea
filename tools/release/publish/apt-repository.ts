// A Debian repository of the finished packages, for any web server or a folder. Packages of earlier releases in its
// pool stay in the index. https://wiki.debian.org/DebianRepository/Format
// Invariant: the index names only files of the pool, with their hashes; the signature is made last.

import { createHash } from "node:crypto";
import { copyFile, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { run } from "../../standalone/exec.js";
import { namesIn } from "../../standalone/names-in.js";
import { SetupProblem } from "../../standalone/problem.js";
import { gzipped, put } from "../files.js";
import { ARCHITECTURES, type Architecture } from "../pins.js";
import { exportKey, sign } from "./signature.js";

export interface AptRepositoryOptions {
  /** Folder with the .deb files. */
  packages: string;
  /** The repository; made if it is not there. */
  out: string;
  /**
   * Key that gpg knows. Without it the repository has no signature, and apt refuses it unless its source says
   * trusted=yes.
   */
  key: string | undefined;
  /** Where the repository will be: for the file nodelet.sources. */
  url: string | undefined;
  /** Seconds since 1970: the date of the index. */
  epoch: number;
}

const POOL = "pool/main/n/nodelet";
const SUITE = "dists/stable";
const KEYRING = "/usr/share/keyrings/nodelet.gpg";

/** Returns the number of packages in the index. @throws SetupProblem */
export async function makeAptRepository({ packages, out, key, url, epoch }: AptRepositoryOptions): Promise<number> {
  const added = (await namesIn(packages)).filter((name) => name.endsWith(".deb"));
  if (added.length === 0) throw new SetupProblem(`${packages} has no .deb: run make packages first`);
  await mkdir(join(out, POOL), { recursive: true });
  for (const name of added) await copyFile(join(packages, name), join(out, POOL, name));
  const entries = await Promise.all(
    (await readdir(join(out, POOL))).filter((name) => name.endsWith(".deb")).map((name) => entryOf(out, name)),
  );
  const newestLast = entries.sort((a, b) => (a.file < b.file ? -1 : 1));
  await rm(join(out, "dists"), { recursive: true, force: true });
  const indexes: string[] = [];
  for (const architecture of ARCHITECTURES) {
    const text = newestLast.filter((entry) => entry.architecture === architecture).map((entry) => `${entry.text}\n`);
    const folder = `main/binary-${architecture}`;
    const index = text.join("\n");
    await put(join(out, SUITE, folder, "Packages"), index);
    await put(join(out, SUITE, folder, "Packages.gz"), gzipped(index));
    indexes.push(`${folder}/Packages`, `${folder}/Packages.gz`);
  }
  const release = join(out, SUITE, "Release");
  await put(release, await releaseText(join(out, SUITE), indexes, epoch));
  if (key !== undefined) {
    await sign(release, { key, form: "inline", to: join(out, SUITE, "InRelease") });
    await sign(release, { key, form: "beside", to: `${release}.gpg` });
    await put(join(out, "nodelet.gpg"), await exportKey(key));
  }
  if (url !== undefined) await put(join(out, "nodelet.sources"), sourceText(url, key !== undefined));
  return entries.length;
}

interface Entry {
  file: string;
  architecture: Architecture | undefined;
  /** A stanza of Packages. */
  text: string;
}

async function entryOf(out: string, name: string): Promise<Entry> {
  const file = `${POOL}/${basename(name)}`;
  const content = await readFile(join(out, file));
  const control = (await run("dpkg-deb", ["--field", join(out, file)])).trimEnd();
  const sum = createHash("sha256").update(content).digest("hex");
  const architecture = /^Architecture: (\S+)$/m.exec(control)?.[1];
  return {
    file,
    architecture: ARCHITECTURES.find((one) => one === architecture),
    text: `${control}\nFilename: ${file}\nSize: ${content.length}\nSHA256: ${sum}`,
  };
}

async function releaseText(suite: string, indexes: readonly string[], epoch: number): Promise<string> {
  const sums = await Promise.all(
    indexes.map(async (name) => {
      const content = await readFile(join(suite, name));
      return ` ${createHash("sha256").update(content).digest("hex")} ${content.length} ${name}`;
    }),
  );
  return `Origin: nodelet
Label: nodelet
Suite: stable
Codename: stable
Date: ${new Date(epoch * 1000).toUTCString()}
Architectures: ${ARCHITECTURES.join(" ")}
Components: main
Description: Packages of nodelet, a kubelet
SHA256:
${sums.join("\n")}
`;
}

/** For /etc/apt/sources.list.d. */
function sourceText(url: string, signed: boolean): string {
  const trust = signed ? `Signed-By: ${KEYRING}` : "Trusted: yes";
  return `Types: deb\nURIs: ${url}\nSuites: stable\nComponents: main\n${trust}\n`;
}
