import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { test } from "node:test";
import { VolumeSetUpError } from "../../../src/main/volumes/errors.js";
import { hostPathPlugin } from "../../../src/main/volumes/host-path/plugin.js";
import type { HostPathType } from "../../../src/shared/kubernetes/api/volume.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { volumeCalls } from "../../support/volume-calls.js";
import { isRoot, manager, never, podWith, temporaryRoot } from "./temporary-root.js";

async function setUp(path: string, type?: string): Promise<string | undefined> {
  const hostPath = { path, ...(type === undefined ? {} : { type: type as HostPathType }) };
  const volume = { name: "host", hostPath };
  const place = await hostPathPlugin(volumeCalls()).setUp({ pod: podWith([volume]), volume, signal: never });
  return "hostPath" in place ? place.hostPath : undefined;
}

test("each type accepts its kind of file and refuses the rest, with upstream's text", async (t) => {
  const root = await temporaryRoot(t);
  mkdirSync(`${root}/dir`);
  writeFileSync(`${root}/file`, "");
  const server = createServer().listen(`${root}/socket`);
  await once(server, "listening");
  t.after(() => server.close());
  const things: Record<string, string> = {
    dir: `${root}/dir`,
    file: `${root}/file`,
    socket: `${root}/socket`,
    char: "/dev/null",
    none: `${root}/none`,
  };
  if (isRoot) execFileSync("mknod", [`${root}/block`, "b", "7", "250"]);
  if (isRoot) things["block"] = `${root}/block`;
  const table: [type: string, takes: string, noun: string][] = [
    ["Directory", "dir", "directory"],
    ["File", "file", "file"],
    ["Socket", "socket", "socket file"],
    ["CharDevice", "char", "character device"],
    ["BlockDevice", "block", "block device"],
  ];
  for (const [type, takes, noun] of table) {
    for (const [thing, path] of Object.entries(things)) {
      if (thing === takes) assert.equal(await setUp(path, type), path);
      else {
        await assert.rejects(
          setUp(path, type),
          (error) =>
            error instanceof VolumeSetUpError &&
            error.problem === `hostPath type check failed: ${path} is not a ${noun}`,
          `${type} of ${thing}`,
        );
      }
    }
  }
});

test("OrCreate creates a missing path, with its mode, and keeps an existing one", async (t) => {
  const root = await temporaryRoot(t);
  assert.equal(await setUp(`${root}/a/b`, "DirectoryOrCreate"), `${root}/a/b`);
  assert.equal(statSync(`${root}/a/b`).mode & 0o7777, 0o755);
  await setUp(`${root}/a/f`, "FileOrCreate");
  assert.equal(statSync(`${root}/a/f`).mode & 0o7777, 0o644);
  writeFileSync(`${root}/a/f`, "kept");
  await setUp(`${root}/a/f`, "FileOrCreate");
  assert.equal(statSync(`${root}/a/f`).size, 4);
  await assert.rejects(setUp(`${root}/a/f`, "DirectoryOrCreate"), /is not a directory/);
  await assert.rejects(setUp(`${root}/a/b`, "FileOrCreate"), /is not a file/);
  await assert.rejects(setUp(`${root}/no/parent/f`, "FileOrCreate"), VolumeSetUpError);
});

test("no type means no check and nothing made", async (t) => {
  const root = await temporaryRoot(t);
  assert.equal(await setUp(`${root}/later`), `${root}/later`);
  assert.equal(await setUp(`${root}/later`, ""), `${root}/later`);
  assert.ok(!existsSync(`${root}/later`));
});

test("a path without its leading slash is below the root, as in upstream", async () => {
  assert.equal(await setUp("dev/null"), "/dev/null");
  assert.equal(await setUp("dev/null", "CharDevice"), "/dev/null");
});

test("bad paths and types are refused", async () => {
  await assert.rejects(setUp(""), /has no path/);
  await assert.rejects(setUp("/a/../b"), /must not contain/);
  await assert.rejects(setUp("/", "Folder"), /Folder is an invalid volume type/);
  await assert.rejects(setUp("/", "toString"), /toString is an invalid volume type/);
});

test("teardown leaves the host's files alone", async (t) => {
  const root = await temporaryRoot(t);
  await setUp(`${root}/mine`, "DirectoryOrCreate");
  await manager(root).removePodDirectory(podUid("uid-1"));
  assert.ok(existsSync(`${root}/mine`));
});
