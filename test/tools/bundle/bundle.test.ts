// The bundle of the build. The files that a start loads are in packs, and V8 accepts the code cache of each script
// unchanged.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openCache } from "../../../src/shared/io/code/code-cache.js";
import { KUBELET_ENTRY, KUBELET_NODE_FLAGS } from "../../../tools/standalone/kubelet-process.js";

const AGENT = fileURLToPath(new URL("../../../agent", import.meta.url));
const FLAGS = new URL("../../../src/shared/io/code/v8-flags.js", import.meta.url).href;
const scripts = async (folder: string): Promise<string[]> =>
  (await readdir(join(AGENT, folder))).filter((name) => name.endsWith(".js")).map((name) => join(AGENT, folder, name));

test("the executable's first line has the flags that the tests and make install start it with", async () => {
  const [line] = (await readFile(KUBELET_ENTRY, "utf8")).split("\n");
  assert.equal(line, `#!/usr/bin/env -S MALLOC_ARENA_MAX=1 node ${KUBELET_NODE_FLAGS.join(" ")}`);
});

test("each script has one intact code cache, which V8 takes under the flags of the kubelet", async () => {
  const files = [...(await scripts("packs")), ...(await scripts("main/chunks"))];
  assert.ok(files.length > 100);
  // In a process with the kubelet's flags, for V8 decides by them.
  const check = `
    import { readFileSync } from "node:fs"; import { Script } from "node:vm";
    const { setRestFlags, setV8Flags } = await import(${JSON.stringify(FLAGS)});
    setV8Flags();
    const tag = process.versions.v8 + "-" + process.arch;
    const bad = JSON.parse(readFileSync(0, "utf8")).filter((file) => {
      setRestFlags(!file.includes("/packs/"));
      const cachedData = readFileSync(file + "." + tag + ".cache").subarray(8);
      return new Script(readFileSync(file, "latin1"), { cachedData }).cachedDataRejected !== false;
    });
    console.log(JSON.stringify(bad));`;
  const running = promisify(execFile)(process.execPath, [
    ...KUBELET_NODE_FLAGS,
    "--input-type=module",
    "--eval",
    check,
  ]);
  running.child.stdin?.end(JSON.stringify(files));
  assert.deepEqual(JSON.parse((await running).stdout), []);
  for (const file of files) {
    const folder = join(file, "..");
    const caches = (await readdir(folder)).filter(
      (name) => join(folder, name).startsWith(`${file}.`) && name.endsWith(".cache"),
    );
    assert.ok(caches.length > 0, file);
    for (const name of caches) assert.ok(openCache(await readFile(join(folder, name))), name);
  }
});

test("every chunk that a chunk or pack imports is in the bundle", async () => {
  const known = new Set((await scripts("main/chunks")).map((file) => file.split("/").at(-1)!));
  for (const file of [...(await scripts("packs")), ...(await scripts("main/chunks"))]) {
    const text = await readFile(file, "latin1");
    for (const [, path] of text.matchAll(/\b(?:require|__load)\("(\.[^"]+)"\)/g)) {
      assert.ok(known.has(path!.split("/").at(-1)!), `${file}: ${path ?? ""}`);
    }
  }
});

test("the kubelet's first log line has the version and commit of nodelet, and --version that of Kubernetes", async () => {
  const { version, commit } = JSON.parse(await readFile(join(AGENT, "version.json"), "utf8")) as Record<string, string>;
  const kubelet = (...flags: string[]) => promisify(execFile)(process.execPath, [KUBELET_ENTRY, ...flags]);
  // A start that fails after its first lines.
  const failed = kubelet(
    "--fail-cgroupv1=false",
    "--root-dir=/nonexistent/root",
    "--kubeconfig=/nonexistent/kubeconfig",
  );
  const { stderr } = await failed.catch((error: unknown) => error as { stderr: string });
  const [line] = stderr.split("\n");
  const shown = commit === undefined || commit === `v${version}` ? version : `${version} (${commit})`;
  assert.ok(line?.endsWith(`"Kubelet version" kubeletVersion="v1.36.0" nodelet="${shown}"`), line);
  assert.match((await kubelet("--version")).stdout, /^Kubernetes v1\.36\.\d+\n$/);
});

// Each feature by a text of its code, which is in one file.
for (const [feature, text] of [
  ["the status page", "too many status pages are open"],
  ["the server's side of the manifest API", "too many clients watch the manifests of this node"],
  ["main's side of the manifest API", "If-Match requires a version of it"],
  ["the Docker Engine", "is being stopped: no container starts in it"],
  ["trials of configurations", "and never passed its trial"],
  ["checkpoints of configurations", "its files are not the ones that were saved"],
  ["the ConfigMap source of configurations", "its checkpoint is missing; the kubelet waits for the API server"],
] as const) {
  test(`no start loads code of a feature that is off: ${feature}`, async () => {
    const packs = (await scripts("packs")).filter((file) => !basename(file).startsWith("workers-dockershim-"));
    const holders = async (files: readonly string[]): Promise<string[]> => {
      const texts = await Promise.all(files.map((file) => readFile(file, "latin1")));
      return files.filter((_, index) => texts[index]!.includes(text));
    };
    assert.deepEqual(await holders(packs), []);
    assert.equal((await holders([...(await scripts("main/chunks")), ...(await scripts("packs"))])).length, 1);
  });
}
