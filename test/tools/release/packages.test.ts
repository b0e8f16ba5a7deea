// The packages of a small project: reproducible, complete, with scripts that the package manager can run.
// @headline Packages and documents | Two builds give the same bytes. | .deb, .rpm, .tar
// @promise Packages and documents: Packages: two builds give the same bytes; contents, rights, control fields, SBOM
//   and licences; the tarball's script installs, updates and removes.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { STATE, STATE_ROOT } from "../../../tools/install/layout.js";
import { readReleaseOptions } from "../../../tools/release/options.js";
import { script } from "../../../tools/release/scripts.js";
import { findExecutable, run } from "../../../tools/standalone/exec.js";
import { isSetupProblem } from "../../../tools/standalone/problem.js";
import { EPOCH, project, ROOT } from "./project.js";

const own = process.arch === "arm64" ? "arm64" : "amd64";
const other = own === "amd64" ? "arm64" : "amd64";
const formats = async (): Promise<string> => ((await findExecutable("rpmbuild")) ? "deb,rpm,tar" : "deb,tar");
const hashOf = async (file: string): Promise<string> =>
  createHash("sha256")
    .update(await readFile(file))
    .digest("hex");

test("two builds in other folders, under another umask, give the same bytes", async (t) => {
  const [one, two] = [await project(t), await project(t, "a-longer-name-of-a-project")];
  const first = await one.make("--arch", own, "--formats", await formats());
  const before = process.umask(0o077);
  const second = await two.make("--arch", own, "--formats", await formats()).finally(() => process.umask(before));
  assert.deepEqual(await Promise.all(second.map(hashOf)), await Promise.all(first.map(hashOf)));
  const third = await two.make("--arch", own, "--formats", "tar", "--version", "0.0.9");
  assert.notEqual(await hashOf(third[0]!), await hashOf(first.at(-1)!));
});

test("the Debian package carries code, Node, unit, configuration, manual pages, completions, licences and an SBOM", async (t) => {
  const { dir, make } = await project(t);
  const [deb] = await make("--arch", own, "--formats", "deb");
  const field = async (name: string): Promise<string> => (await run("dpkg-deb", ["--field", deb!, name])).trim();
  assert.deepEqual(await Promise.all(["Package", "Version", "Architecture", "Conflicts", "Provides"].map(field)), [
    ...["nodelet", "0.2.0", own, "kubelet", "kubelet (= 1.36.0)"],
  ]);
  const listed = (await run("dpkg-deb", ["--contents", deb!])).trim().split("\n");
  for (const line of listed) assert.match(line, /^(d|-)rw[x-]r-[x-]r-[x-] root\/root +\d+ 2023-11-14 /, line);
  const out = join(dir, "out");
  await run("dpkg-deb", ["--raw-extract", deb!, out]);
  const files = listed.map((line) => line.slice(line.indexOf("./") + 1)).filter((path) => !path.endsWith("/"));
  const home = "/usr/lib/nodelet";
  for (const path of files.filter((name) => /\.cache$/.test(name))) {
    assert.match(path, /\/(packs\/a|main\/chunks\/b)\.js\.[\w.-]+\.cache$/);
    assert.doesNotMatch(path, /00000000/, "the cache of the build's own Node stays behind");
  }
  assert.deepEqual(files.filter((path) => !path.endsWith(".cache")).sort(), [
    "/etc/nodelet/kubelet.yaml",
    ...["/usr/bin/kubelet", "/usr/bin/nodelet"],
    `${home}/LICENSE`,
    ...[
      "cli/nodelet.js",
      "main/chunks/b.js",
      "main/kubelet.js",
      "make-cache.js",
      "package.json",
      "packs/a.js",
      "version.json",
    ].map((name) => `${home}/dist/agent/${name}`),
    `${home}/node/LICENSE`,
    `${home}/node/node`,
    `${home}/node_modules/@native/${own === "amd64" ? "x64" : "arm64"}/native.node`,
    `${home}/node_modules/needed/LICENSE.txt`,
    ...["index.js", "package.json"].map((name) => `${home}/node_modules/needed/${name}`),
    `${home}/package.json`,
    `${home}/start-kubelet`,
    "/usr/lib/systemd/system-generators/nodelet-generator",
    "/usr/lib/systemd/system/kubelet.service",
    ...["kubelet", "nodelet"].map((name) => `/usr/share/bash-completion/completions/${name}`),
    ...["THIRD-PARTY-LICENSES.gz", "changelog.gz", "copyright", "examples/10-kubeadm.conf", "sbom.cdx.json"].map(
      (name) => `/usr/share/doc/nodelet/${name}`,
    ),
    ...["kubelet.fish", "nodelet.fish"].map((name) => `/usr/share/fish/vendor_completions.d/${name}`),
    "/usr/share/lintian/overrides/nodelet",
    ...["/usr/share/man/man1/nodelet.1.gz", "/usr/share/man/man8/kubelet.8.gz"],
    ...["_kubelet", "_nodelet"].map((name) => `/usr/share/zsh/vendor-completions/${name}`),
  ]);
  assert.equal(await readFile(join(out, "DEBIAN/conffiles"), "utf8"), "/etc/nodelet/kubelet.yaml\n");
  for (const name of ["preinst", "postinst", "prerm", "postrm"]) await run("sh", ["-n", join(out, "DEBIAN", name)]);
  await run("md5sum", ["--quiet", "--check", "DEBIAN/md5sums"], { cwd: out });
  const program = await readFile(join(out, `${home}/dist/agent/main/kubelet.js`), "utf8");
  assert.equal(program, "1;\n", "the script is loaded by the package's Node, never executed");
  const unit = await readFile(join(out, "usr/lib/systemd/system/kubelet.service"), "utf8");
  assert.match(unit, /^ExecStart=\/usr\/lib\/nodelet\/start-kubelet \$KUBELET_KUBEADM_ARGS -- \$KUBELET_EXTRA_ARGS$/m);
  assert.match(await readFile(join(out, "DEBIAN/triggers"), "utf8"), /^interest-noawait \/usr\/bin\/kubeadm$/m);
  for (const program of [`${home}/start-kubelet`, "/usr/lib/systemd/system-generators/nodelet-generator"]) {
    await run("sh", ["-n", join(out, program)]);
    assert.equal((await stat(join(out, program))).mode & 0o777, 0o755, program);
  }
  assert.equal(unit.match(/^ExecStart=/gm)?.length, 1);
  assert.match(await readFile(join(out, "usr/bin/kubelet"), "utf8"), / exec -a "\$0" \/usr\/lib\/nodelet\/node\/node /);
  const licences = await run("gzip", ["-dc", join(out, "usr/share/doc/nodelet/THIRD-PARTY-LICENSES.gz")]);
  for (const text of ["licence of needed", "licence of bundled"]) assert.ok(licences.includes(text), text);
});

test("the SBOM names Node and each package that is inside, with version, hash and licence", async (t) => {
  const { dir, make } = await project(t);
  const [deb] = await make("--arch", own, "--formats", "deb");
  await run("dpkg-deb", ["--extract", deb!, join(dir, "out")]);
  const text = await readFile(join(dir, "out/usr/share/doc/nodelet/sbom.cdx.json"), "utf8");
  const bom = JSON.parse(text) as {
    metadata: { timestamp: string };
    components: {
      name: string;
      version: string;
      cpe?: string;
      purl: string;
      hashes: { content: string }[];
      licenses: unknown[];
    }[];
  };
  assert.equal(bom.metadata.timestamp, new Date(EPOCH * 1000).toISOString());
  const node = bom.components.find(({ name }) => name === "node");
  assert.equal(node?.cpe, `cpe:2.3:a:nodejs:node.js:${node?.version ?? ""}:*:*:*:*:*:*:*`);
  const beside = await readFile(join(dirname(deb!), `nodelet-0.2.0-${own}.cdx.json`), "utf8");
  assert.equal(beside, text, "the SBOM lies beside the packages, too");
  const native = `@native/${own === "amd64" ? "x64" : "arm64"}`;
  assert.deepEqual(
    bom.components.map(({ name }) => name),
    ["node", native, "bundled", "needed"],
  );
  for (const { purl, hashes, licenses } of bom.components) {
    assert.match(purl, /^pkg:npm\/[\w%./-]+@\d+\.\d+\.\d+$/);
    assert.match(hashes[0]?.content ?? "", /^[0-9a-f]{128}$/);
    assert.equal(licenses.length, 1);
  }
  assert.deepEqual(bom.components.find(({ name }) => name === "bundled")?.licenses, [
    { expression: "(MIT OR CC0-1.0)" },
  ]);
});

test("a package for another processor has its native code and no code cache", async (t) => {
  const { dir, make } = await project(t);
  const [deb] = await make("--arch", other, "--formats", "deb");
  await run("dpkg-deb", ["--extract", deb!, join(dir, "out")]);
  const native = `usr/lib/nodelet/node_modules/@native/${other === "amd64" ? "x64" : "arm64"}/native.node`;
  assert.equal(await readFile(join(dir, "out", native), "utf8"), "fetched\n");
  assert.doesNotMatch(await run("dpkg-deb", ["--contents", deb!]), /\.cache$/m);
});

test("the tarball's script installs, updates and removes, and refuses another kubelet", async (t) => {
  const { dir, make } = await project(t);
  const [tarball] = await make("--arch", own, "--formats", "tar");
  await run("tar", ["-xzf", tarball!, "-C", dir]);
  const installer = join(dir, `nodelet-0.2.0-linux-${own}`, "install.sh");
  const destdir = join(dir, "machine");
  await mkdir(destdir);
  const install = (...words: string[]): Promise<string> =>
    run("sh", [installer, ...words], { env: { DESTDIR: destdir } });
  const files = async (): Promise<string> => run("find", [destdir, "-type", "f", "!", "-path", "*/usr/lib/nodelet/*"]);
  await install();
  for (const path of ["/usr/bin/kubelet", "/etc/nodelet/kubelet.yaml", "/usr/share/man/man8/kubelet.8.gz"]) {
    assert.ok((await files()).includes(path), path);
  }
  await run("sh", ["-c", `echo changed >>${destdir}/etc/nodelet/kubelet.yaml`]);
  assert.match(await install(), /kubelet\.yaml is left as it is/);
  assert.match(await readFile(join(destdir, "etc/nodelet/kubelet.yaml"), "utf8"), /^changed$/m);
  await install("--uninstall");
  assert.equal((await files()).trim(), join(destdir, "etc/nodelet/kubelet.yaml"));
  await run("sh", ["-c", `touch ${destdir}/usr/bin/kubelet`]);
  await assert.rejects(install(), /belongs to another kubelet/);
  await run("rm", [join(destdir, "usr/bin/kubelet")]);
  await install();
  await install("--uninstall", "--purge");
  assert.equal(await files(), "");
});

test("a purge removes the same files as make uninstall PURGE=1", async () => {
  const text = await script(ROOT, "postrm");
  for (const path of STATE) assert.ok(text.includes(`'${path}'`), path);
  assert.ok(text.includes(`-- ${STATE_ROOT} `));
  assert.doesNotMatch(text, /@[A-Z_]+@/);
});

test("unknown architectures, formats and versions are refused with the known ones", () => {
  const refusal = (...words: string[]): string => {
    try {
      readReleaseOptions(words, "/");
    } catch (error) {
      assert.ok(isSetupProblem(error));
      return error.message;
    }
    return "";
  };
  assert.equal(refusal("--arch", "mips"), "--arch: mips is not one of amd64, arm64");
  assert.equal(refusal("--formats", "deb,apk"), "--formats: apk is not one of deb, rpm, tar");
  assert.match(refusal("--version", "v1"), /digits and dots/);
  assert.match(refusal("--nonsense"), /usage: /);
});
