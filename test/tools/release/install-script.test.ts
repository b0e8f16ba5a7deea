// install.sh of a release against a web server on this machine: it installs what is whole and signed, and nothing else.

import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { makeInstaller } from "../../../tools/release/publish/installer.js";
import { findExecutable, isCommandFailed, run } from "../../../tools/standalone/exec.js";
import { isSetupProblem } from "../../../tools/standalone/problem.js";
import { signingKey } from "./gpg.js";
import { project, ROOT } from "./project.js";

const own = process.arch === "arm64" ? "arm64" : "amd64";
/** All that the script needs; the package manager and `id` stand for those of a machine. */
const TOOLS = ["base64", "cat", "chmod", "curl", "grep", "head", "mktemp", "rm", "sh", "sha256sum", "uname"];
const UNPACKING = ["cp", "dirname", "find", "gzip", "mkdir", "mv", "tar"];
const missing = (await Promise.all(["gpg", "gpgv", "curl"].map(findExecutable))).includes(undefined);
const skip = missing ? "gpg, gpgv and curl are needed" : false;

/** A served release. */
async function served(t: TestContext) {
  const key = await signingKey(t);
  const { dir, make } = await project(t);
  const made = await make("--arch", own, "--formats", "deb,tar", "--fast");
  const packages = dirname(made[0]!);
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    readFile(join(packages, request.url ?? "")).then(
      (content) => response.end(content),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => new Promise((resolve) => server.close(resolve)));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await makeInstaller({ root: ROOT, packages, key, url });
  const bin = join(dir, "bin");
  await mkdir(bin);
  const put = (name: string, text: string): Promise<void> =>
    writeFile(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  for (const tool of [...TOOLS, ...UNPACKING, "gpgv"]) await symlink((await findExecutable(tool))!, join(bin, tool));
  await put("id", "echo 0");
  const installed = join(dir, "installed");
  await put("apt-get", `[ -s "$3" ] && echo "$1 $2 \${3##*/}" >${installed}`);
  const machine = join(dir, "machine");
  await mkdir(machine);
  const install = (): Promise<string> =>
    run(join(bin, "sh"), [join(packages, "install.sh")], { env: { PATH: bin, DESTDIR: machine, TMPDIR: dir } });
  /** What the package manager was asked to install; undefined: nothing. */
  const result = (): Promise<string | undefined> => readFile(installed, "utf8").catch(() => undefined);
  const refusal = async (): Promise<string> => {
    await rm(installed, { force: true });
    const error = await install().then(
      () => assert.fail("it was installed"),
      (failed: unknown) => failed,
    );
    assert.ok(isCommandFailed(error), String(error));
    assert.equal(await result(), undefined);
    assert.deepEqual(await readdir(machine), []);
    assert.deepEqual(
      (await readdir(dir)).filter((name) => name.startsWith("tmp.")),
      [],
      "the fetched files are removed",
    );
    return error.message;
  };
  return { dir, packages, bin, machine, asked, key, url, install, result, refusal, put };
}

test("a whole and signed package is given to the package manager", { skip }, async (t) => {
  const { asked, install, result } = await served(t);
  await install();
  assert.equal(await result(), `install -y nodelet_0.2.0_${own}.deb\n`);
  assert.deepEqual(asked, ["/SHA256SUMS", "/SHA256SUMS.asc", `/nodelet_0.2.0_${own}.deb`]);
});

test("without a package manager that it knows, the script of the tarball installs", { skip }, async (t) => {
  const { bin, machine, install } = await served(t);
  await rm(join(bin, "apt-get"));
  await install();
  assert.ok((await readFile(join(machine, "usr/bin/kubelet"), "utf8")).startsWith("#!/bin/bash"));
});

test("altered, missing and wrongly signed files install nothing, each with its reason", { skip }, async (t) => {
  const { packages, refusal, key, url } = await served(t);
  const deb = join(packages, `nodelet_0.2.0_${own}.deb`);
  const [whole, sums] = [await readFile(deb), await readFile(join(packages, "SHA256SUMS"), "utf8")];
  await writeFile(deb, Buffer.concat([whole, Buffer.from("x")]));
  assert.match(await refusal(), /the checksum of nodelet_0\.2\.0_\w+\.deb is wrong; nothing is installed/);
  await rm(deb);
  assert.match(await refusal(), /cannot fetch .*\.deb; nothing is installed/);
  await writeFile(deb, whole);
  // A line more, and another hash of the same file: both are not what was signed.
  for (const text of [`${sums}${"0".repeat(64)}  other\n`, sums.replace(/^[0-9a-f]{4}/gm, "0000"), ""]) {
    await writeFile(join(packages, "SHA256SUMS"), text);
    assert.match(await refusal(), /the signature of SHA256SUMS is wrong/);
  }
  await writeFile(join(packages, "SHA256SUMS"), sums.replaceAll(/^\S+ {2}\S+\.deb\n/gm, ""));
  await run("gpg", ["--batch", "--yes", "-u", key, "--armor", "-b", join(packages, "SHA256SUMS")]);
  assert.match(await refusal(), /SHA256SUMS has no file for this machine/);
  await writeFile(join(packages, "SHA256SUMS"), sums);
  await rm(join(packages, "SHA256SUMS.asc"));
  assert.match(await refusal(), new RegExp(`cannot fetch ${url}/SHA256SUMS.asc`));
});

test("a signature of another key installs nothing", { skip }, async (t) => {
  const { packages, refusal } = await served(t);
  const other = await signingKey(t);
  await run("gpg", ["--batch", "--yes", "-u", other, "--armor", "-b", join(packages, "SHA256SUMS")]);
  assert.match(await refusal(), /the signature of SHA256SUMS is wrong/);
});

test(
  "another user than root, another processor and a machine without curl or gpgv get one line",
  { skip },
  async (t) => {
    const { bin, refusal, put } = await served(t);
    await rm(join(bin, "curl"));
    assert.match(await refusal(), /curl is needed: install the package curl/);
    await rm(join(bin, "gpgv"));
    assert.match(await refusal(), /gpgv or sqv is needed/);
    await rm(join(bin, "uname"));
    await put("uname", "echo mips");
    assert.match(await refusal(), /there is no package for mips/);
    await put("id", "echo 1000");
    assert.match(await refusal(), /not root/);
  },
);

test("an address that a shell would read as more than an address is refused", { skip }, async (t) => {
  const { packages, key } = await served(t);
  for (const url of ["http://a/$(reboot)", "ftp://a", 'https://a/"', "https://a b"]) {
    await assert.rejects(makeInstaller({ root: ROOT, packages, key, url }), isSetupProblem);
  }
});
