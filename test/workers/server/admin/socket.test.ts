// The place of the admin socket: rights, groups, leftovers, and a path that another process uses.

import { equal, ok, rejects } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createConnection, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { bindSocket } from "../../../../src/workers/server/admin/socket.js";

async function folder(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "nodelet-admin-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

function server(t: TestContext): Server {
  const made = createServer((socket) => socket.on("error", () => undefined).end("hello"));
  t.after(() => made.close());
  return made;
}

test("the socket has rights for its owner only, its folder is made, and nothing else stays in it", async (t) => {
  const dir = join(await folder(t), "made");
  const path = join(dir, "s");
  const bound = await bindSocket(server(t), { path, group: "", rootDir: "/nowhere" });
  equal((await stat(path)).mode & 0o777, 0o600);
  equal((await readdir(dir)).join(), "s");
  const [answer] = (await once(createConnection(path), "data")) as [Buffer];
  equal(answer.toString(), "hello");
  await bound.remove();
  equal((await readdir(dir)).length, 0);
});

test("a group gets read and write", { skip: process.getuid?.() === 0 ? false : "needs root" }, async (t) => {
  const path = join(await folder(t), "s");
  await bindSocket(server(t), { path, group: "54321", rootDir: "/nowhere" });
  const { mode, gid } = await stat(path);
  equal(mode & 0o777, 0o660);
  equal(gid, 54321);
});

test("a left socket is replaced; one on which a process listens is not", async (t) => {
  const path = join(await folder(t), "s");
  await writeFile(path, "left");
  const bound = await bindSocket(server(t), { path, group: "", rootDir: "/nowhere" });
  await rejects(bindSocket(server(t), { path, group: "", rootDir: "/nowhere" }), /another process listens there/);
  ok((await stat(path)).isSocket());
  await rm(path);
  await writeFile(path, "of another");
  await chmod(path, 0o600);
  await bound.remove();
  ok((await stat(path)).isFile(), "what replaced the socket stays");
});

test("a relative or long path, and an unknown group, are refused", async (t) => {
  const dir = await folder(t);
  await rejects(bindSocket(server(t), { path: "s", group: "", rootDir: "/nowhere" }), /absolute/);
  await rejects(
    bindSocket(server(t), { path: `/tmp/${"x".repeat(120)}/s`, group: "", rootDir: "/nowhere" }),
    /too long/,
  );
  await rejects(bindSocket(server(t), { path: join(dir, "s"), group: "nobodys", rootDir: dir }), /"nobodys" is not in/);
});

const ROOT = { skip: process.getuid?.() === 0 ? false : "needs root" };
const GROUP = "54321";

/** What a member of the group, and no other user, gets from the socket. */
async function asMember(path: string, gid: number): Promise<string> {
  const script = `require("net").createConnection(${JSON.stringify(path)}).on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code))`;
  const child = spawn(process.execPath, ["-e", script], {
    uid: 65_534,
    gid,
    stdio: ["ignore", "pipe", "inherit"],
    cwd: "/",
  });
  return (await text(child.stdout)).trim();
}

test(
  "a group reaches the socket below a closed root directory, and others do not; the group may list nothing",
  ROOT,
  async (t) => {
    const top = await folder(t);
    await chmod(top, 0o755);
    const rootDir = join(top, "root");
    await mkdir(join(rootDir, "nodelet"), { recursive: true, mode: 0o750 });
    await mkdir(join(rootDir, "pods"), { mode: 0o750 });
    const path = join(rootDir, "nodelet", "s");
    await bindSocket(server(t), { path, group: GROUP, rootDir });
    equal(await asMember(path, Number(GROUP)), "hello");
    equal(await asMember(path, 65_534), "EACCES");
    for (const made of [rootDir, join(rootDir, "nodelet")]) equal((await stat(made)).mode & 0o777, 0o710);
    const { mode, gid } = await stat(join(rootDir, "pods"));
    equal([mode & 0o777, gid].join(), [0o750, 0].join());
  },
);

test("a closed folder of others stays as it is, and the reason names it", ROOT, async (t) => {
  const top = await folder(t);
  const place = { path: join(top, "root", "s"), group: GROUP, rootDir: join(top, "root") };
  const { problem } = await bindSocket(server(t), place);
  equal(problem, `members of the group cannot reach it: they have no search permission for ${top}`);
  equal((await stat(top)).mode & 0o777, 0o700);
  equal((await stat(place.path)).mode & 0o777, 0o660);
});
