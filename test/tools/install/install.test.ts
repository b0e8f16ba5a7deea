// Installation into a staging folder and removal: installed paths, refused options, and kept files.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { rootEntries } from "../../../src/main/model/root-directory.js";
import { LOGIND_CONF_DIR } from "../../../src/main/node/shutdown/inhibit-delay.js";
import { directoriesOf } from "../../../src/main/process/directories.js";
import { install } from "../../../tools/install/install.js";
import { STATE, STATE_ROOT } from "../../../tools/install/layout.js";
import { readOptions, type InstallerOptions } from "../../../tools/install/options.js";
import { uninstall } from "../../../tools/install/uninstall.js";
import { isSetupProblem } from "../../../tools/standalone/problem.js";

const PACKAGE: Readonly<Record<string, string>> = {
  "package.json": JSON.stringify({ bundle: { external: ["needed", "@a/scoped"] } }),
  LICENSE: "",
  "package-lock.json": JSON.stringify({
    packages: {
      "": {},
      "node_modules/needed": {
        dependencies: { inner: "1", shared: "1", "@types/inner": "1" },
        optionalDependencies: { elsewhere: "1" },
      },
      "node_modules/needed/node_modules/inner": { dependencies: { shared: "1", needed: "1" } },
      "node_modules/needed/node_modules/author": { dev: true },
      "node_modules/@a/scoped": { dependencies: { shared: "1" } },
      "node_modules/shared": {},
      "node_modules/bundled": {},
      "node_modules/tool": { dev: true },
      "node_modules/elsewhere": { optional: true },
    },
  }),
  "node_modules/needed/index.js": "",
  "node_modules/needed/index.d.ts": "",
  "node_modules/needed/README.md": "",
  "node_modules/needed/test/a.js": "",
  "node_modules/needed/lib/test/b.js": "",
  "node_modules/needed/node_modules/inner/index.js": "",
  "node_modules/needed/node_modules/author/index.js": "",
  "node_modules/@a/scoped/index.js": "",
  "node_modules/shared/index.js": "",
  "node_modules/bundled/index.js": "",
  "node_modules/tool/index.js": "",
  "dist/agent/main/kubelet.js": "",
  "dist/agent/main/kubelet.js.map": "",
  "dist/tools/install/main.js": "",
  "dist/tools/standalone/exec.js": "",
};
const DEPLOYED = [
  "systemd/kubelet.service",
  "systemd/10-standalone.conf",
  "systemd/kubelet.yaml",
  "kubeadm/10-kubeadm.conf",
];
const ROOT = new URL("../../../..", import.meta.url).pathname;
const HOME = "/usr/lib/nodelet";
const UNIT = "/usr/lib/systemd/system/kubelet.service";

interface Stage {
  root: string;
  destdir: string;
  run: (action: "install" | "uninstall", more?: Partial<InstallerOptions>) => Promise<void>;
  /** Everything below the staging folder but our own folder's contents. */
  files: () => Promise<string[]>;
  read: (path: string) => Promise<string>;
}

async function stage(t: TestContext): Promise<Stage> {
  const dir = await mkdtemp(join(tmpdir(), "nodelet-install-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const [root, destdir] = [join(dir, "package"), join(dir, "staged")];
  const put = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  };
  for (const [path, text] of Object.entries(PACKAGE)) await put(join(root, path), text);
  for (const name of DEPLOYED) {
    await put(join(root, "tools/deploy", name), await readFile(join(ROOT, "tools/deploy", name), "utf8"));
  }
  await mkdir(destdir);
  const all = async (): Promise<string[]> => {
    const entries = await readdir(destdir, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => !entry.isDirectory());
    return files.map(({ parentPath, name }) => join(parentPath, name).slice(destdir.length)).sort();
  };
  const quiet = (): void => undefined;
  return {
    root,
    destdir,
    run: async (action, more = {}) => {
      const options = { ...readOptions([action, "--destdir", destdir, "--node", "/opt/node"]), ...more };
      await (action === "install" ? install(root, options, quiet) : uninstall(options, quiet));
    },
    files: async () => (await all()).filter((path) => !path.startsWith(`${HOME}/`)),
    read: (path) => readFile(join(destdir, path), "utf8"),
  };
}

test("install puts the kubelet, its unit and a configuration where systemd looks for them", async (t) => {
  const { run, files, read, destdir } = await stage(t);
  await run("install");
  assert.deepEqual(await files(), [
    "/etc/nodelet/kubelet.yaml",
    "/usr/bin/kubelet",
    "/usr/bin/nodelet",
    UNIT,
    `${UNIT}.d/10-standalone.conf`,
  ]);
  assert.match(
    await read("/usr/bin/kubelet"),
    /^#!\/bin\/bash\nMALLOC_ARENA_MAX=1 exec -a "\$0" \/opt\/node .*\/usr\/lib\/nodelet\/dist\/agent\/main\/kubelet\.js "\$@"\n$/,
  );
  assert.equal((await stat(join(destdir, "/usr/bin/kubelet"))).mode & 0o777, 0o755);
});

test("only files that a program could load are installed, of packages that the kubelet runs on", async (t) => {
  const { run, destdir } = await stage(t);
  await run("install");
  const modules = await readdir(join(destdir, HOME, "node_modules"), { recursive: true, withFileTypes: true });
  const files = modules.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  assert.deepEqual(files.map((path) => path.slice(join(destdir, HOME, "node_modules/").length)).sort(), [
    "@a/scoped/index.js",
    "needed/index.js",
    "needed/lib/test/b.js",
    "needed/node_modules/inner/index.js",
    "shared/index.js",
  ]);
});

test("a prefix is written into wrapper, unit and drop-in", async (t) => {
  const { run, read } = await stage(t);
  await run("install", { prefix: "/usr/local" });
  assert.match(await read("/usr/local/bin/kubelet"), /\/usr\/local\/lib\/nodelet\//);
  assert.match(await read("/usr/local/lib/systemd/system/kubelet.service"), /^ExecStart=\/usr\/local\/bin\/kubelet$/m);
});

test("a kubelet that is not ours is left alone unless forced", async (t) => {
  const { run, read, destdir } = await stage(t);
  await mkdir(join(destdir, "usr/bin"), { recursive: true });
  await writeFile(join(destdir, "usr/bin/kubelet"), "theirs");
  await assert.rejects(
    run("install"),
    (error) => isSetupProblem(error) && /belongs to another kubelet/.test(error.message),
  );
  assert.equal(await read("/usr/bin/kubelet"), "theirs");
  await run("install", { force: true });
  assert.match(await read("/usr/bin/kubelet"), /nodelet/);
});

test("a missing package is named, and nothing is installed", async (t) => {
  const { run, root, files } = await stage(t);
  await rm(join(root, "node_modules/needed"), { recursive: true });
  await assert.rejects(run("install"), /npm packages are missing.*node_modules\/needed/);
  assert.deepEqual(await files(), []);
});

test("an update keeps mode and configuration; another mode takes the old drop-in away", async (t) => {
  const { run, files, read, destdir } = await stage(t);
  await run("install");
  await writeFile(join(destdir, "etc/nodelet/kubelet.yaml"), "mine");
  await run("install");
  assert.equal(await read("/etc/nodelet/kubelet.yaml"), "mine");
  assert.ok((await files()).includes(`${UNIT}.d/10-standalone.conf`));
  await run("install", { mode: "kubeadm" });
  assert.deepEqual(
    (await files()).filter((path) => path.startsWith(`${UNIT}.d`)),
    [`${UNIT}.d/10-kubeadm.conf`],
  );
});

test("where kubeadm's own drop-in lies, ours stays away", async (t) => {
  const { run, files, destdir } = await stage(t);
  const theirs = "/etc/systemd/system/kubelet.service.d/10-kubeadm.conf";
  await mkdir(join(destdir, dirname(theirs)), { recursive: true });
  await writeFile(join(destdir, theirs), "");
  await run("install");
  assert.deepEqual(await files(), [theirs, "/usr/bin/kubelet", "/usr/bin/nodelet", UNIT]);
});

test("uninstall keeps the configuration, which a later purge removes", async (t) => {
  const { run, files } = await stage(t);
  await run("install");
  await run("uninstall");
  assert.deepEqual(await files(), ["/etc/nodelet/kubelet.yaml"]);
  await run("uninstall", { purge: true });
  assert.deepEqual(await files(), []);
});

test("purge knows every folder and state file that the kubelet makes", () => {
  const { root, seccomp, ...made } = directoriesOf(STATE_ROOT, "/var/log/pods");
  assert.equal(root, STATE_ROOT);
  // The administrator's profiles.
  assert.ok(!STATE.includes(seccomp));
  const { pki, imageManager, allocatedPodsState, actuatedPodsState, cpuManagerState, memoryManagerState } = rootEntries;
  const states = [allocatedPodsState, actuatedPodsState, cpuManagerState, memoryManagerState];
  const more = [pki, imageManager, ...states, "graceful_node_shutdown_state", "device-plugins", "nodelet"];
  const logind = join(LOGIND_CONF_DIR, "99-kubelet.conf");
  const all = [...Object.values(made), ...more.map((name) => join(STATE_ROOT, name)), logind];
  assert.deepEqual([...STATE].sort(), all.sort());
});

test("purge leaves no folder after any mode", async (t) => {
  const { run, destdir } = await stage(t);
  await run("install");
  await run("install", { mode: "kubeadm" });
  await run("uninstall", { purge: true });
  assert.deepEqual(await readdir(destdir), []);
});

test("uninstall leaves files and folders of others", async (t) => {
  const { run, files, destdir } = await stage(t);
  const theirs = "/usr/lib/systemd/system/kubelet.service.d/20-site.conf";
  await run("install");
  await writeFile(join(destdir, theirs), "");
  await run("uninstall", { purge: true });
  assert.deepEqual(await files(), [theirs]);
});

for (const [words, problem] of [
  [[], /usage/],
  [["install", "--mode", "odd"], /"odd" is not one of standalone, kubeadm, plain/],
  [["install", "--prefix", "usr"], /--prefix "usr": an absolute path/],
  [["install", "--node", "/a b"], /--node "\/a b"/],
  [["install", "--nonsense"], /nonsense/],
] as const) {
  test(`refuses: ${words.join(" ")}`, () => {
    assert.throws(
      () => readOptions(words),
      (error) => isSetupProblem(error) && problem.test(error.message),
    );
  });
}
