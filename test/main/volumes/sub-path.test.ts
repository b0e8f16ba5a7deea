// @promise Volumes: A subPath never leaves its volume: 250 mounts against a process that swaps a directory and a link.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { SubPathRequest } from "../../../src/main/volumes/sub-path.js";
import { VolumeError } from "../../../src/main/volumes/volume-error.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { SubPathError } from "../../../src/shared/node/volume-calls/errors.js";
import { openSubPath } from "../../../src/shared/node/volume-calls/sub-path.js";
import { hostPathOf, isRoot, manager, mountsBelow, never, podWith, temporaryRoot } from "./temporary-root.js";

const skip = isRoot ? false : "needs root";

const request = (volumePath: string, subPath: string, index = 0): SubPathRequest => ({
  podUid: podUid("uid-1"),
  volume: "data",
  container: "main",
  index,
  volumePath,
  subPath,
  signal: never,
});

/** Tries again as the kubelet does: on a busy machine more than a hundred unmounts take longer than its patience. */
async function removePod(volumes: ReturnType<typeof manager>): Promise<void> {
  for (;;) {
    try {
      await volumes.removePodDirectory(podUid("uid-1"));
      return;
    } catch (error) {
      if (!(error instanceof VolumeError)) throw error;
      await setTimeout(500);
    }
  }
}

test("links may lead anywhere inside the volume and nowhere outside", async (t) => {
  const root = await temporaryRoot(t);
  const volume = `${root}/volume`;
  mkdirSync(`${volume}/a/b`, { recursive: true });
  mkdirSync(`${root}/volume-secret`);
  writeFileSync(`${root}/secret`, "secret");
  symlinkSync("a/b", `${volume}/in`);
  symlinkSync(`${volume}/a`, `${volume}/in-absolute`);
  symlinkSync("..", `${volume}/up`);
  symlinkSync("../secret", `${volume}/out`);
  symlinkSync("../volume-secret", `${volume}/sibling`);
  symlinkSync("/etc", `${volume}/a/etc`);
  symlinkSync("../nowhere", `${volume}/dangling`);
  symlinkSync("loop", `${volume}/loop`);
  for (const good of ["a", "a/b", "in", "in-absolute/b", "", ".", "./a//b/"])
    await (await openSubPath(volume, good)).close();
  for (const bad of [
    "up",
    "out",
    "sibling",
    "sibling/x",
    "a/etc",
    "a/etc/passwd",
    "dangling",
    "dangling/x",
    "loop",
    "..",
    "a/../..",
    "/etc",
  ]) {
    await assert.rejects(openSubPath(volume, bad), SubPathError, bad);
  }
  assert.deepEqual(readdirSync(`${root}/volume-secret`), [], "nothing was made outside");
  assert.ok(!existsSync(`${root}/nowhere`));
});

test("a missing sub path is made with the volume's permissions", async (t) => {
  const root = await temporaryRoot(t);
  const volume = `${root}/volume`;
  mkdirSync(volume);
  const { chmod } = await import("node:fs/promises");
  for (const [name, mode] of [
    ["x", 0o777],
    ["group", 0o3777],
  ] as const) {
    await chmod(volume, mode);
    await (await openSubPath(volume, `${name}/y`)).close();
    assert.equal(statSync(`${volume}/${name}`).mode & 0o7777, mode);
    assert.equal(statSync(`${volume}/${name}/y`).mode & 0o7777, mode);
  }
  writeFileSync(`${volume}/file`, "");
  await assert.rejects(openSubPath(volume, "file/below"), SubPathError);
});

test("an attacker that swaps a directory and a link to the host never gets the host mounted", { skip }, async (t) => {
  const root = await temporaryRoot(t);
  const volume = `${root}/volume`;
  const outside = `${root}/outside`;
  mkdirSync(`${volume}/a/b`, { recursive: true });
  mkdirSync(`${outside}/b`, { recursive: true });
  writeFileSync(`${volume}/a/b/inside`, "");
  writeFileSync(`${outside}/b/host`, "");
  const swapper = new URL("./fixtures/swapper.js", import.meta.url);
  const attacker = spawn(process.execPath, [fileURLToPath(swapper), `${volume}/a`, `${volume}/link`, outside], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(attacker, "exit");
  await once(attacker.stdout, "data");
  const volumes = manager(root);
  const outcomes = { mounted: 0, refused: 0 };
  try {
    await meet();
  } finally {
    // Before the root is removed: it would go on swapping in it.
    attacker.kill("SIGKILL");
    await gone;
  }
  assert.deepEqual(readdirSync(`${outside}/b`), ["host"], "nothing was made outside");
  assert.ok(outcomes.mounted > 0 && outcomes.refused > 0, `the race was not met: ${JSON.stringify(outcomes)}`);
  await removePod(volumes);
  assert.deepEqual(mountsBelow(root), []);

  async function meet(): Promise<void> {
    for (let index = 0; index < 250; index++) {
      // Both names: at any moment one is the directory and one the link.
      const subPath = index % 2 === 0 ? "a/b" : "link/b";
      let place: string;
      try {
        place = await volumes.prepareSubPath(request(volume, subPath, index));
      } catch (error) {
        if (!(error instanceof SubPathError)) throw error;
        outcomes.refused++;
        continue;
      }
      assert.deepEqual(readdirSync(place), ["inside"], "something else than the volume's own directory was mounted");
      outcomes.mounted++;
    }
  }
});

test("the part is bind-mounted once, follows a change of the sub path, and goes with the pod", { skip }, async (t) => {
  const root = await temporaryRoot(t);
  const volumes = manager(root);
  const pod = podWith([{ name: "data", emptyDir: { medium: "Memory" } }]);
  const volume = hostPathOf(await volumes.setUpPod(pod, never), "data");
  mkdirSync(`${volume}/conf`);
  writeFileSync(`${volume}/conf/key`, "value");
  writeFileSync(`${volume}/file`, "text");
  const directory = await volumes.prepareSubPath(request(volume, "conf"));
  assert.equal(directory, `${root}/pods/uid-1/volume-subpaths/data/main/0`);
  assert.equal(readFileSync(`${directory}/key`, "utf8"), "value");
  const file = await volumes.prepareSubPath(request(volume, "file", 1));
  assert.ok(lstatSync(file).isFile() && readFileSync(file, "utf8") === "text");
  await manager(root).prepareSubPath(request(volume, "conf"));
  assert.equal(mountsBelow(`${root}/pods/uid-1/volume-subpaths`).length, 2);
  await volumes.prepareSubPath(request(volume, "other"));
  assert.deepEqual(readdirSync(directory), []);
  writeFileSync(`${directory}/new`, "");
  assert.ok(existsSync(`${volume}/other/new`));
  await manager(root).removePodDirectory(podUid("uid-1"));
  assert.deepEqual(mountsBelow(root), []);
  assert.ok(!existsSync(`${root}/pods/uid-1`));
});

test(
  "a part that has become a file, or a directory again, is mounted over what is left of the other",
  { skip },
  async (t) => {
    const root = await temporaryRoot(t);
    const volumes = manager(root);
    const pod = podWith([{ name: "data", emptyDir: { medium: "Memory" } }]);
    const volume = hostPathOf(await volumes.setUpPod(pod, never), "data");
    writeFileSync(`${volume}/file`, "text");
    mkdirSync(`${volume}/conf`);
    for (const part of ["file", "conf", "file"]) {
      const place = await volumes.prepareSubPath(request(volume, part));
      assert.equal(lstatSync(place).isFile(), part === "file", part);
    }
    await removePod(volumes);
  },
);
