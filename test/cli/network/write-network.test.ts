// The network of a node without one: written once, whole, and never over anything that is there.

import { deepEqual, equal, match, rejects, throws } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { fixNetwork } from "../../../src/cli/doctor/fix-network.js";
import { readCniFiles } from "../../../src/cli/network/cni-files.js";
import { writeNetwork } from "../../../src/cli/network/write-network.js";

const RANGE = { range: { first: 10 * 2 ** 24, length: 24 } };

async function folder(t: TestContext): Promise<{ confDir: string; record: string }> {
  const dir = await mkdtemp(join(tmpdir(), "nodelet-cni-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  return { confDir: join(dir, "net.d"), record: join(dir, "state/network.sha256") };
}

/** What may be in the folder: whether it counts as a configuration. */
const FOUND: readonly (readonly [title: string, make: (dir: string) => Promise<unknown>, configured: boolean])[] = [
  ["nothing", () => Promise.resolve(), false],
  ["a file without one of the endings", (dir) => writeFile(join(dir, "README"), ""), false],
  ["a file that was disabled", (dir) => writeFile(join(dir, "10-x.conflist.disabled"), "{}"), false],
  ["a folder with such a name", (dir) => mkdir(join(dir, "old.conf")), false],
  ["a .conf", (dir) => writeFile(join(dir, "10-x.conf"), '{"type":"bridge"}'), true],
  ["a .conflist", (dir) => writeFile(join(dir, "99-x.conflist"), '{"plugins":[{"type":"bridge"}]}'), true],
  ["a .json", (dir) => writeFile(join(dir, "x.json"), '{"type":"bridge"}'), true],
  ["a hidden .conf", (dir) => writeFile(join(dir, ".x.conf"), "{}"), true],
  ["a broken file", (dir) => writeFile(join(dir, "10-x.conflist"), "{"), true],
  ["an empty file", (dir) => writeFile(join(dir, "10-x.conflist"), ""), true],
  ["a link", (dir) => symlink("/etc/hostname", join(dir, "10-x.conf")), true],
  ["a link to nothing", (dir) => symlink("/nowhere", join(dir, "10-x.conf")), true],
];

describe("a folder of CNI configurations with", () => {
  for (const [title, make, configured] of FOUND) {
    test(`${title} ${configured ? "is left as it is" : "gets a network"}`, async (t) => {
      const { confDir, record } = await folder(t);
      await mkdir(confDir);
      await make(confDir);
      const before = await readdir(confDir);
      const path = await writeNetwork(confDir, RANGE, record);
      equal(path, configured ? undefined : join(confDir, "10-nodelet.conflist"));
      deepEqual((await readdir(confDir)).sort(), [...before, ...(configured ? [] : ["10-nodelet.conflist"])].sort());
    });
  }
});

test("a folder that is missing is made, and the file is one that any user can read", async (t) => {
  const { confDir, record } = await folder(t);
  const umask = process.umask(0o077);
  const path = (await writeNetwork(confDir, RANGE, record).finally(() => process.umask(umask))) ?? "";
  equal((await stat(path)).mode & 0o777, 0o644);
  const { network, broken } = await readCniFiles(confDir);
  deepEqual(broken, []);
  deepEqual(network?.plugins, [
    { type: "bridge", ipam: "host-local", forwards: true },
    { type: "portmap", forwards: false },
  ]);
  match(await readFile(path, "utf8"), /"subnet": "10\.0\.0\.0\/24"/);
  equal(await writeNetwork(confDir, RANGE, record), undefined, "a second time there is nothing to do");
});

test("the record tells whether the file was changed", async (t) => {
  const { confDir, record } = await folder(t);
  const path = (await writeNetwork(confDir, RANGE, record)) ?? "";
  const check = (): Buffer => execFileSync("sha256sum", ["--check", "--status", record], { stdio: "pipe" });
  check();
  await writeFile(path, `${await readFile(path, "utf8")} `);
  throws(check);
});

test("two that write at the same time make one file, and leave no other", async (t) => {
  const { confDir, record } = await folder(t);
  await Promise.allSettled(
    [1, 2, 3, 4].map((byte) => writeNetwork(confDir, { range: { first: byte * 2 ** 24, length: 24 } }, record)),
  );
  deepEqual(await readdir(confDir), ["10-nodelet.conflist"]);
  match(await readFile(join(confDir, "10-nodelet.conflist"), "utf8"), /^\{[^]*\}\n$/);
});

test("the first valid configuration counts, and each before it has its reason", async (t) => {
  const { confDir } = await folder(t);
  await mkdir(confDir);
  const texts: Readonly<Record<string, string>> = {
    "01-empty.conf": "",
    "02-list.conf": "[]",
    "03-type.conf": '{"cniVersion":"1.0.0"}',
    "04-plugins.conflist": '{"name":"x"}',
    "05-none.conflist": '{"plugins":[]}',
    "06-good.conflist": '{"plugins":[{"type":"ptp","ipam":{"type":"host-local"}}]}',
    "07-later.conf": '{"type":"bridge"}',
  };
  for (const [name, text] of Object.entries(texts)) await writeFile(join(confDir, name), text);
  const { names, network, broken } = await readCniFiles(confDir);
  deepEqual(names, Object.keys(texts));
  deepEqual(network, { file: "06-good.conflist", plugins: [{ type: "ptp", ipam: "host-local", forwards: true }] });
  deepEqual(
    broken.map((reason) => reason.split(":")[0]),
    ["01-empty.conf", "02-list.conf", "03-type.conf", "04-plugins.conflist", "05-none.conflist"],
  );
});

describe("doctor --fix", () => {
  const input = (confDir: string, record: string) =>
    ({ mode: "standalone", settings: { confDir }, dockerNetwork: false, ipv6: "off", record }) as const;

  test("writes a network where the runtime looks, and leaves it at the next run", async (t) => {
    const { confDir, record } = await folder(t);
    const first = await fixNetwork(input(confDir, record));
    equal(first.result, "fixed");
    match(first.said, new RegExp(`^wrote ${confDir}/10-nodelet\\.conflist: pods get addresses of [\\d.]+/24`));
    const second = await fixNetwork(input(confDir, record));
    deepEqual(second, { result: "fine", said: `${confDir} has 10-nodelet.conflist; it is left as it is` });
  });

  const idle: readonly (readonly [title: string, change: Partial<Parameters<typeof fixNetwork>[0]>])[] = [
    ["in a cluster", { mode: "cluster" }],
    ["where Docker's own network serves the pods", { dockerNetwork: true }],
  ];
  for (const [title, change] of idle) {
    test(`writes nothing ${title}`, async (t) => {
      const { confDir, record } = await folder(t);
      equal((await fixNetwork({ ...input(confDir, record), ...change })).result, "fine");
      await rejects(stat(confDir));
    });
  }

  test("writes nothing where the runtime has a template", async (t) => {
    const { confDir, record } = await folder(t);
    const settings = { confDir, template: "/etc/cni/template" };
    equal((await fixNetwork({ ...input(confDir, record), settings })).result, "fine");
    await rejects(stat(confDir));
  });

  test("says why it cannot", async (t) => {
    const { confDir, record } = await folder(t);
    await writeFile(confDir, "a file");
    const { result, said } = await fixNetwork(input(confDir, record));
    equal(result, "failed");
    match(said, /^cannot write a pod network: ENOTDIR/);
    await chmod(confDir, 0o600);
  });
});
