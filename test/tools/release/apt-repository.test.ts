// The repository, read by apt itself with folders of its own: neither this machine's sources nor its packages are
// touched.

import assert from "node:assert/strict";
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { makeAptRepository } from "../../../tools/release/publish/apt-repository.js";
import { findExecutable, run } from "../../../tools/standalone/exec.js";
import { isSetupProblem } from "../../../tools/standalone/problem.js";
import { signingKey } from "./gpg.js";
import { EPOCH, project } from "./project.js";

const own = process.arch === "arm64" ? "arm64" : "amd64";
const missing = (await Promise.all(["apt-get", "gpg"].map(findExecutable))).includes(undefined);
const skip = missing ? "apt-get and gpg are needed" : false;

/** A repository with two versions; `apt` runs a command of apt against it. */
async function repository(t: TestContext, key: string | undefined) {
  const { dir, make } = await project(t);
  const out = join(dir, "apt");
  const [older] = await make("--arch", own, "--formats", "deb", "--fast", "--version", "0.1.9");
  await makeAptRepository({ packages: dirname(older!), out, key, url: undefined, epoch: EPOCH });
  const [deb] = await make("--arch", own, "--formats", "deb", "--fast");
  assert.deepEqual((await readdir(dirname(deb!))).filter((name) => name.endsWith(".deb")).length, 1);
  const count = await makeAptRepository({ packages: dirname(deb!), out, key, url: `file:${out}`, epoch: EPOCH });
  assert.equal(count, 2);
  const root = join(dir, "root");
  for (const folder of ["lists/partial", "cache/archives/partial", "etc/trusted.gpg.d", "etc/preferences.d", "dpkg"])
    await mkdir(join(root, folder), { recursive: true });
  const source = await readFile(join(out, "nodelet.sources"), "utf8");
  const keyring = join(root, "nodelet.gpg");
  await writeFile(join(root, "etc/nodelet.sources"), source.replace("/usr/share/keyrings/nodelet.gpg", keyring));
  if (key !== undefined) await copyFile(join(out, "nodelet.gpg"), keyring);
  await writeFile(join(root, "dpkg/status"), "");
  const settings = {
    "Dir::State": root,
    "Dir::State::Lists": join(root, "lists"),
    "Dir::State::status": join(root, "dpkg/status"),
    "Dir::Cache": join(root, "cache"),
    "Dir::Etc": join(root, "etc"),
    "Dir::Etc::Main": "/dev/null",
    "Dir::Etc::Parts": "/dev/null",
    "Dir::Etc::SourceList": join(root, "etc/nodelet.sources"),
    "Dir::Etc::SourceParts": "/dev/null",
    "APT::Architecture": own,
    "APT::Sandbox::User": "root",
    "Acquire::Languages": "none",
  };
  const words = Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  const apt = (command: string, ...more: string[]): Promise<string> =>
    run(command, [...words, ...more], { cwd: root, timeoutMs: 120_000, env: { LC_ALL: "C" } });
  /** All that `apt-get update` says when it fails. */
  const refusal = async (): Promise<string> => {
    await run("rm", ["-rf", join(root, "lists")]);
    await mkdir(join(root, "lists/partial"), { recursive: true });
    const said = ["-c", 'apt-get "$@" 2>&1 && echo accepted; true', "sh", ...words, "update", "--error-on=any"];
    return run("sh", said, { cwd: root, timeoutMs: 120_000, env: { LC_ALL: "C" } });
  };
  return { out, root, apt, refusal };
}

test("apt takes the newest version of a signed repository, and refuses one that was changed", { skip }, async (t) => {
  const { out, root, apt, refusal } = await repository(t, await signingKey(t));
  await apt("apt-get", "update", "--error-on=any");
  assert.match(await apt("apt-cache", "policy", "nodelet"), /Candidate: 0\.2\.0\n[^]* 0\.1\.9 /);
  await apt("apt-get", "download", "nodelet");
  assert.ok((await readdir(root)).includes(`nodelet_0.2.0_${own}.deb`));
  const index = join(out, `dists/stable/main/binary-${own}/Packages`);
  await writeFile(`${index}.gz`, "changed");
  await writeFile(index, (await readFile(index, "utf8")).replace("0.2.0", "0.2.9"));
  const changed = await refusal();
  assert.match(changed, /unexpected size|Hash Sum mismatch/);
  assert.doesNotMatch(changed, /accepted/);
  const release = join(out, "dists/stable/InRelease");
  await writeFile(release, (await readFile(release, "utf8")).replace("Label: nodelet", "Label: another"));
  const forged = await refusal();
  assert.match(forged, /signatures were invalid: BADSIG|is not signed/);
  assert.doesNotMatch(forged, /accepted/);
});

test(
  "a repository without a key has no signature, and its source says that apt cannot verify it",
  { skip },
  async (t) => {
    const { out, apt } = await repository(t, undefined);
    assert.deepEqual((await readdir(join(out, "dists/stable"))).sort(), ["Release", "main"]);
    assert.match(await readFile(join(out, "nodelet.sources"), "utf8"), /^Trusted: yes$/m);
    await apt("apt-get", "update");
    assert.match(await apt("apt-cache", "policy", "nodelet"), /Candidate: 0\.2\.0\n/);
  },
);

test("a folder without packages, and a key that gpg does not know, are refused with a reason", { skip }, async (t) => {
  const { dir, make } = await project(t);
  const [deb] = await make("--arch", own, "--formats", "deb", "--fast");
  const options = {
    packages: dirname(deb!),
    out: join(dir, "apt"),
    key: "nobody@nodelet.test",
    url: undefined,
    epoch: EPOCH,
  };
  await signingKey(t);
  await assert.rejects(
    makeAptRepository(options),
    (error) => isSetupProblem(error) && /is not signed/.test(error.message),
  );
  for (const packages of ["project/tools", "nowhere"]) {
    await assert.rejects(
      makeAptRepository({ ...options, packages: join(dir, packages) }),
      (error) => isSetupProblem(error) && /has no \.deb/.test(error.message),
    );
  }
});
