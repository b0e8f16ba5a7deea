// The npm package as `npm install -g` lays it out: the tarball of `npm pack` in a prefix, its dependencies beside it,
// links to its commands.
// @promise Packages and documents: The tarball of npm pack has all that `npm install -g` needs. Its kubelet prints the
//   version and runs a pod, with prebuilt native code.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, test } from "node:test";
import { promisify } from "node:util";
import { copyPackage } from "../../tools/install/copy-code.js";
import { productionPackages } from "../../tools/install/production-packages.js";
import { ENTRIES } from "../../tools/install/wrappers.js";
import { startNode, type PodView, type TestNode } from "../harness/node.js";
import { conditionsOf, IDLE, manifest, shell, waitForPod } from "../support/static-pods.js";

const ROOT = new URL("../../..", import.meta.url).pathname.replace(/\/$/, "");
const execute = promisify(execFile);
let node: TestNode | undefined;
let prefix = "";
afterEach(async () => {
  await node?.stop();
  node = undefined;
  await rm(prefix, { recursive: true, force: true });
});

test("the kubelet of the npm package prints its version and runs a pod, with prebuilt native code only", async () => {
  prefix = await mkdtemp(join(tmpdir(), "nodelet-npm-"));
  // The build is that of this run.
  await execute("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", prefix], { cwd: ROOT });
  const tarball = (await readdir(prefix)).find((name) => name.endsWith(".tgz"));
  const home = join(prefix, "lib/node_modules/nodelet");
  await mkdir(home, { recursive: true });
  await execute("tar", ["-xzf", join(prefix, tarball ?? ""), "-C", home, "--strip-components=1"]);
  for (const path of await productionPackages(ROOT)) await copyPackage(join(ROOT, path), join(home, path));
  await mkdir(join(prefix, "bin"));
  for (const [name, entry] of Object.entries(ENTRIES)) await symlink(join(home, entry), join(prefix, "bin", name));

  const kubelet = join(prefix, "bin/kubelet");
  const path = `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`;
  const version = await execute(kubelet, ["--version"], { env: { ...process.env, PATH: path } });
  assert.match(version.stdout, /^Kubernetes v1\.36\./);
  node = await startNode({ entry: kubelet });
  await node.writeManifest("web", manifest("web", [shell("app", IDLE)]));
  const commandLine = await readFile(`/proc/${node.kubelet.pid ?? 0}/cmdline`, "utf8");
  assert.ok(commandLine.includes(prefix), commandLine);
  await waitForPod(node, "web", (pod: PodView) => conditionsOf(pod)["Ready"] === "True", "Ready");
});
