// Which npm packages the agent needs at run time: those that its bundle leaves outside (package.json, bundle.external),
// and what they depend on. Read from the lock file, so that installing needs neither npm nor a network.

import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SetupProblem } from "../standalone/problem.js";

interface LockedPackage {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}
type Packages = Readonly<Record<string, LockedPackage>>;

/** Folders below `root` (`node_modules/pino`), sorted. Throws SetupProblem when one that is needed is not there. */
export async function productionPackages(root: string): Promise<string[]> {
  const wanted = await wantedPackages(root);
  const present: string[] = [];
  const missing: string[] = [];
  for (const [path, how] of wanted) {
    if (await isFolder(join(root, path))) present.push(path);
    else if (how === "needed") missing.push(path);
  }
  if (missing.length > 0) {
    throw new SetupProblem(`npm packages are missing, run npm ci first: ${missing.join(" ")}`);
  }
  return present.sort();
}

/** Folders below `root`, those for other systems too; "optional": the kubelet runs without them. */
export async function wantedPackages(root: string): Promise<Map<string, "needed" | "optional">> {
  const read = async <T>(file: string): Promise<T> => JSON.parse(await readFile(join(root, file), "utf8")) as T;
  const { bundle } = await read<{ bundle: { external: string[] } }>("package.json");
  const { packages } = await read<{ packages: Packages }>("package-lock.json");
  const wanted = new Map<string, "needed" | "optional">();
  for (const name of bundle.external) collect(packages, "", name, "needed", wanted);
  return wanted;
}

/** Adds the package that `name` means for the one at `from`, and what it depends on. */
function collect(
  packages: Packages,
  from: string,
  name: string,
  how: "needed" | "optional",
  wanted: Map<string, "needed" | "optional">,
): void {
  if (name.startsWith("@types/")) return;
  const path = resolve(packages, from, name);
  const known = wanted.get(path);
  if (known === "needed" || known === how) return;
  wanted.set(path, how);
  const { dependencies = {}, optionalDependencies = {} } = packages[path] ?? {};
  for (const dependency of Object.keys(dependencies)) collect(packages, path, dependency, how, wanted);
  for (const dependency of Object.keys(optionalDependencies)) collect(packages, path, dependency, "optional", wanted);
}

/** As Node looks for it: in the asking package's own folder, then in those above. */
function resolve(packages: Packages, from: string, name: string): string {
  for (let at = from; ; at = dirname(at)) {
    const path = at === "" || at === "." ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (path in packages || at === "" || at === ".") return path;
  }
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
