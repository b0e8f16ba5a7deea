// Checkpoints and meta files on a real folder: exact copies, garbage, truncation, leftovers, pruning.

import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rm, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Checkpoints } from "../../../../src/main/process/dynamic-config/checkpoints.js";
import { digestOf, type ConfigFiles } from "../../../../src/main/process/dynamic-config/config-files.js";
import { MetaStore } from "../../../../src/main/process/dynamic-config/meta.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { configOf, storeFolder } from "./kit.js";

const MAX_BAD_MARKS = 50;
const KEPT_CHECKPOINTS = 5;

const FILES: ConfigFiles = {
  config: { path: "/etc/kubernetes/kubelet.yaml", text: "\uFEFFkind: KubeletConfiguration\r\nmaxPods: 5 # ü" },
  dropIns: [
    { path: "/etc/kubelet.d/10.conf", text: "" },
    { path: `/etc/kubelet.d/sub/${"ü".repeat(120)}.conf`, text: "maxPods: 6\n" },
    { path: "/etc/other/10.conf", text: "maxPods: 7\n" },
  ],
};

interface Store {
  folder: string;
  checkpoints: Checkpoints;
  warnings: () => string[];
  digest: string;
}

async function saved(t: TestContext, files = FILES): Promise<Store> {
  const folder = await storeFolder(t);
  const { log, warnings } = keptLog();
  const checkpoints = new Checkpoints(folder, new SteppedClock(), log);
  await checkpoints.open();
  const digest = await digestOf(files);
  await checkpoints.save(digest, files, "files");
  return { folder, checkpoints, warnings, digest };
}

test("a checkpoint gives back exact texts, paths and order; saving it again changes nothing", async (t) => {
  const { folder, checkpoints, digest } = await saved(t);
  assert.deepEqual(await checkpoints.load(digest), FILES);
  const before = await readdir(join(folder, digest));
  assert.equal(before.length, 5);
  assert.deepEqual(
    before.filter((name) => name.endsWith(".conf")),
    [],
  );
  await checkpoints.save(digest, FILES, "files");
  assert.deepEqual(await readdir(join(folder, digest)), before);
  assert.deepEqual(await readdir(folder), [digest]);
  const manifest = JSON.parse(await readFile(join(folder, digest, "manifest.json"), "utf8")) as Record<string, unknown>;
  assert.equal(manifest["version"], 1);
  assert.equal(manifest["source"], "files");
  assert.equal(manifest["createdAt"], "1970-01-01T00:00:00.000Z");
});

test("the digest distinguishes paths, roles, order and texts", async () => {
  const [one, two] = [FILES.dropIns[0], FILES.dropIns[1]];
  assert(one !== undefined && two !== undefined);
  const variants: ConfigFiles[] = [
    FILES,
    { dropIns: FILES.dropIns },
    { dropIns: [one, two] },
    { dropIns: [two, one] },
    { config: one, dropIns: [two] },
    { dropIns: [{ ...one, path: "/x" }, two] },
    { dropIns: [{ ...one, text: "#" }, two] },
    { dropIns: [] },
  ];
  const digests = await Promise.all(variants.map(digestOf));
  assert.equal(new Set(digests).size, variants.length);
  assert.equal(await digestOf(structuredClone(FILES)), digests[0]);
});

test("a missing checkpoint is undefined without a warning", async (t) => {
  const { checkpoints, warnings } = await saved(t);
  assert.equal(await checkpoints.load("0".repeat(64)), undefined);
  assert.deepEqual(warnings(), []);
});

const copyOf = async (path: string): Promise<string> => {
  const name = (await readdir(path)).find((entry) => entry.startsWith("0-"));
  assert(name !== undefined);
  return join(path, name);
};
const GARBAGE: Record<string, (path: string) => Promise<void>> = {
  "a truncated copy": async (path) => truncate(await copyOf(path), 3),
  "a changed copy": async (path) => writeFile(await copyOf(path), "kind: KubeletConfiguration\n"),
  "a missing copy": async (path) => rm(await copyOf(path)),
  "a copy that is a folder": async (path) => {
    const copy = await copyOf(path);
    await rm(copy);
    await mkdir(copy);
  },
  "a truncated manifest": (path) => truncate(join(path, "manifest.json"), 20),
  "an empty manifest": (path) => truncate(join(path, "manifest.json"), 0),
  "no manifest": (path) => rm(join(path, "manifest.json")),
  "a manifest that is null": (path) => writeFile(join(path, "manifest.json"), "null"),
  "a manifest of a later version": (path) => writeFile(join(path, "manifest.json"), '{"version":2}'),
  "a manifest that points elsewhere": (path) =>
    writeFile(
      join(path, "manifest.json"),
      JSON.stringify({
        version: 1,
        source: "x",
        createdAt: "x",
        files: [{ role: "config", path: "/x", copy: "../../../../../../etc/hostname" }],
      }),
    ),
  "a file in its place": async (path) => {
    await rm(path, { recursive: true });
    await writeFile(path, "garbage");
  },
};
for (const [what, damage] of Object.entries(GARBAGE)) {
  test(`${what}: set aside with one warning, and saved again`, async (t) => {
    const { folder, checkpoints, digest, warnings } = await saved(t);
    await damage(join(folder, digest));
    assert.equal(await checkpoints.load(digest), undefined);
    assert.equal(warnings().length, 1);
    assert.match(warnings()[0] ?? "", /is not usable: set aside as .*\.corrupt-/);
    assert.equal(
      (await readdir(folder)).some((name) => name.startsWith(`${digest}.corrupt-`)),
      true,
    );
    await checkpoints.save(digest, FILES, "files");
    assert.deepEqual(await checkpoints.load(digest), FILES);
  });
}

test("leftovers of a crash are removed when the store is opened; a save that fails leaves nothing", async (t) => {
  const { folder, checkpoints, digest } = await saved(t);
  await mkdir(join(folder, ".tmp-half"));
  await writeFile(join(folder, ".tmp-half", "0-x.copy"), "x");
  await checkpoints.open();
  assert.deepEqual(await readdir(folder), [digest]);
  const blocked = {
    config: { path: "/x", text: "\0".repeat(10) },
    dropIns: [{ path: "/y", text: 7 as unknown as string }],
  };
  await assert.rejects(checkpoints.save("1".repeat(64), blocked, "files"));
  assert.deepEqual(await readdir(folder), [digest]);
});

test("pruning keeps used configurations and the newest; nothing else in the folder is touched", async (t) => {
  const { folder, checkpoints, digest } = await saved(t);
  const digests: string[] = [];
  for (let i = 0; i < KEPT_CHECKPOINTS + 4; i++) {
    const files = configOf(`maxPods: ${i}`);
    const one = await digestOf(files);
    await checkpoints.save(one, files, "files");
    await utimes(join(folder, one), i + 1000, i + 1000);
    digests.push(one);
  }
  await utimes(join(folder, digest), 1, 1);
  await writeFile(join(folder, "notes"), "mine");
  await checkpoints.prune(new Set([digest, digests[0] ?? ""]));
  const want = [digest, digests[0] ?? "", ...digests.slice(-KEPT_CHECKPOINTS), "notes"].sort();
  assert.deepEqual((await readdir(folder)).sort(), want);
});

test("meta files come back; each damaged one is set aside alone", async (t) => {
  const folder = await storeFolder(t);
  const clock = new SteppedClock();
  const { log, warnings } = keptLog();
  const open = async (): Promise<MetaStore> => {
    const meta = new MetaStore(folder, clock, log);
    await meta.load();
    return meta;
  };
  const first = await open();
  const [a, b] = ["a".repeat(64), "b".repeat(64)];
  await first.point("assigned", b);
  await first.point("last-known-good", a);
  await first.point("current", b);
  await first.set("trial", { digest: b, since: first.time(), starts: 2, failure: "no port" });
  await first.markBad(b, "failed: no port");
  const second = await open();
  for (const name of ["assigned", "last-known-good", "current", "trial", "bad"] as const) {
    assert.deepEqual(second.get(name), first.get(name), name);
  }
  assert.deepEqual(second.get("trial"), {
    digest: b,
    since: "1970-01-01T00:00:00.000Z",
    starts: 2,
    failure: "no port",
  });
  clock.step(5000);
  await second.point("assigned", b);
  assert.equal(second.get("assigned")?.since, "1970-01-01T00:00:00.000Z");

  const garbage: [string, string][] = [
    ["assigned", '{"version":1,"digest":"../../x","since":"x"}'],
    ["trial", `{"version":1,"digest":"${b}","since":"x","starts":-1}`],
    ["bad", '{"version":1,"marks":[null]}'],
    ["current", ""],
  ];
  for (const [name, text] of garbage) await writeFile(join(folder, name), text);
  const third = await open();
  for (const [name] of garbage) assert.equal(third.get(name as "assigned"), undefined, name);
  assert.deepEqual(third.bad, []);
  assert.equal(third.get("last-known-good")?.digest, a);
  assert.equal(warnings().length, garbage.length);
  await third.point("assigned", a);
  assert.equal((await open()).get("assigned")?.digest, a);
});

test("a folder in a meta file's place is set aside; the oldest bad marks are forgotten", async (t) => {
  const folder = await storeFolder(t);
  const { log, warnings } = keptLog();
  await mkdir(join(folder, "bad"));
  const meta = new MetaStore(folder, new SteppedClock(), log);
  await meta.load();
  assert.equal(warnings().length, 1);
  const digests = Array.from({ length: MAX_BAD_MARKS + 2 }, (_, i) => i.toString(16).padStart(64, "0"));
  for (const digest of digests) await meta.markBad(digest, "failed");
  await meta.markBad(digests[5] ?? "", "failed again");
  assert.equal(meta.bad.length, MAX_BAD_MARKS);
  assert.equal(meta.bad[0]?.digest, digests[2]);
  assert.deepEqual(meta.bad.at(-1)?.reason, "failed again");
});

test("writes to one meta file complete in the order of the requests", async (t) => {
  const folder = await storeFolder(t);
  const meta = new MetaStore(folder, new SteppedClock(), keptLog().log);
  await meta.load();
  const digest = "a".repeat(64);
  // Each takes longer to write than the next.
  const writes = Array.from({ length: 10 }, (_, starts) =>
    meta.set("trial", { digest, since: "x", starts, failure: "x".repeat(4_000_000 / (starts + 1)) }),
  );
  await Promise.all([...writes, meta.set("trial", undefined), meta.set("trial", { digest, since: "x", starts: 99 })]);
  const again = new MetaStore(folder, new SteppedClock(), keptLog().log);
  await again.load();
  assert.equal(again.get("trial")?.starts, 99);
});
