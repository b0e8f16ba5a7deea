// The place of the admin socket: rights, groups, leftovers, and a path that another process uses.
import { equal, ok, rejects } from "node:assert/strict";
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createConnection, createServer, type Server } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { bindSocket, gidOf } from "../../../../src/workers/server/admin/socket.js";

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
  const bound = await bindSocket(server(t), path, "");
  equal((await stat(path)).mode & 0o777, 0o600);
  equal((await readdir(dir)).join(), "s");
  const [answer] = (await once(createConnection(path), "data")) as [Buffer];
  equal(answer.toString(), "hello");
  await bound.remove();
  equal((await readdir(dir)).length, 0);
});

test("a group gets read and write", { skip: process.getuid?.() === 0 ? false : "needs root" }, async (t) => {
  const path = join(await folder(t), "s");
  await bindSocket(server(t), path, "54321");
  const { mode, gid } = await stat(path);
  equal(mode & 0o777, 0o660);
  equal(gid, 54321);
});

test("a left socket is replaced; one on which a process listens is not", async (t) => {
  const path = join(await folder(t), "s");
  await writeFile(path, "left");
  const bound = await bindSocket(server(t), path, "");
  await rejects(bindSocket(server(t), path, ""), /another process listens there/);
  ok((await stat(path)).isSocket());
  await rm(path);
  await writeFile(path, "of another");
  await chmod(path, 0o600);
  await bound.remove();
  ok((await stat(path)).isFile(), "what replaced the socket stays");
});

test("a relative or long path, and an unknown group, are refused", async (t) => {
  const dir = await folder(t);
  await rejects(bindSocket(server(t), "s", ""), /absolute/);
  await rejects(bindSocket(server(t), `/tmp/${"x".repeat(120)}/s`, ""), /too long/);
  await writeFile(join(dir, "group"), "root:x:0:\nops:x:77:a,b\n");
  equal(await gidOf("ops", join(dir, "group")), 77);
  equal(await gidOf("12"), 12);
  await rejects(gidOf("nobodys", join(dir, "group")), /group "nobodys" is not in/);
});
