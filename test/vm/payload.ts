// The second disk: the package as it was just built, with the npm packages it runs on, and the container images. Made
// for every run, because the cached image must not depend on our code.

import { cp, copyFile, mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { copyCode, copyPackage } from "../../packaging/install/copy-code.js";
import { productionPackages } from "../../packaging/install/production-packages.js";
import { buildImages } from "../../packaging/standalone/images.js";
import { makeFileSystem } from "./image.js";

const SIZE = "256M";
const TREE = ["packaging", "package.json", "package-lock.json", "LICENSE", "Makefile"];

/** Makes the disk in `dir` with these packages, and /images.tar. */
export async function makePackagesPayload(root: string, dir: string, packages: readonly string[]): Promise<string> {
  const tree = join(dir, "payload");
  await mkdir(tree);
  for (const file of packages) await copyFile(file, join(tree, basename(file)));
  await copyFile(await buildImages(join(root, ".cache")), join(tree, "images.tar"));
  const disk = join(dir, "payload.img");
  await makeFileSystem(tree, disk, SIZE);
  return disk;
}

/** Makes the disk in `dir`: /package is what `make install` runs in, /images.tar what the runtime imports. */
export async function makePayload(root: string, dir: string): Promise<string> {
  const tree = join(dir, "payload");
  const home = join(tree, "package");
  await mkdir(home, { recursive: true });
  for (const part of TREE) await cp(join(root, part), join(home, part), { recursive: true });
  for (const part of ["dist/agent", "dist/packaging"]) await copyCode(join(root, part), join(home, part));
  for (const part of await productionPackages(root)) await copyPackage(join(root, part), join(home, part));
  await copyFile(await buildImages(join(root, ".cache")), join(tree, "images.tar"));
  const disk = join(dir, "payload.img");
  await makeFileSystem(tree, disk, SIZE);
  return disk;
}
