// Files that a pod can shape. Only regular ones are opened, none for longer than a read takes, none beyond its limit.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, readFileSync } from "node:fs";
import { appendFile, mkdir, open, readdir, readlink, rename, symlink, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import {
  FileGoneError,
  FileTooLargeError,
  NotRegularFileError,
  openPlace,
  openUntrusted,
  openUntrustedSync,
  readTail,
  readWhole,
  writeUntrusted,
} from "../../../../src/shared/io/fs/untrusted-file.js";
import { temporaryFolder } from "../../../support/sources-kit.js";

const O_PATH = 0o10000000;
const isRoot = process.getuid?.() === 0;

test("a FIFO, socket, directory and symbolic link are no regular files, and are not waited for", async (t) => {
  const folder = await temporaryFolder(t);
  execFileSync("mkfifo", [join(folder, "fifo")]);
  await mkdir(join(folder, "directory"));
  await writeFile(join(folder, "file"), "text");
  await symlink("file", join(folder, "link"));
  const server = createServer().listen(join(folder, "socket"));
  t.after(() => server.close());
  await once(server, "listening");
  const expected = { fifo: "FIFO", socket: "socket", directory: "directory", link: "symbolic link" };
  for (const [name, kind] of Object.entries(expected)) {
    const refused = (error: unknown): boolean => error instanceof NotRegularFileError && error.message.includes(kind);
    await assert.rejects(openUntrusted(join(folder, name)), refused, name);
    await assert.rejects(readTail(join(folder, name), 10), refused, name);
    assert.throws(() => openUntrustedSync(join(folder, name)), refused, name);
  }
  assert.deepEqual(await openFilesBelow(folder), [], "every handle is closed");
});

test("a device node is refused without opening the device", { skip: !isRoot && "makes device nodes" }, async (t) => {
  const folder = await temporaryFolder(t);
  // No driver has this major number: opening the node fails with ENXIO.
  execFileSync("mknod", [join(folder, "character"), "c", "60", "0"]);
  execFileSync("mknod", [join(folder, "block"), "b", "60", "0"]);
  for (const name of ["character", "block"]) {
    await assert.rejects(openUntrusted(join(folder, name)), NotRegularFileError);
    assert.throws(() => openUntrustedSync(join(folder, name)), NotRegularFileError);
  }
});

test("a regular file is opened for reading, neither blocking nor inherited by children", async (t) => {
  const path = join(await temporaryFolder(t), "file");
  await writeFile(path, "text");
  const { handle, stats } = await openUntrusted(path);
  t.after(() => handle.close());
  const { fd } = openUntrustedSync(path);
  t.after(() => closeSync(fd));
  assert.equal(stats.size, 4n);
  assert.equal((await readWhole({ handle, stats }, path, 4)).toString(), "text");
  for (const opened of [handle.fd, fd]) {
    const flags = Number.parseInt(
      /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${opened}`, "utf8"))?.[1] ?? "",
      8,
    );
    assert.equal(flags & constants.O_NONBLOCK, constants.O_NONBLOCK);
    assert.equal(flags & 0o2000000, 0o2000000, "O_CLOEXEC");
    assert.equal(flags & 3, constants.O_RDONLY);
  }
});

test("links of the last component are followed only on request", async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, "file"), "text");
  await symlink("file", join(folder, "link"));
  await symlink("circle", join(folder, "circle"));
  await symlink("/dev/null", join(folder, "device"));
  const file = await openUntrusted(join(folder, "link"), { followLink: true });
  t.after(() => file.handle.close());
  assert.equal((await readWhole(file, "link", 100)).toString(), "text");
  await assert.rejects(openUntrusted(join(folder, "circle"), { followLink: true }), FileGoneError);
  await assert.rejects(openUntrusted(join(folder, "device"), { followLink: true }), NotRegularFileError);
});

test("a path that leads nowhere is a FileGoneError", async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, "file"), "");
  for (const name of ["none", "none/below", "file/below", "x".repeat(300)]) {
    await assert.rejects(openUntrusted(join(folder, name)), FileGoneError, name);
    assert.throws(() => openUntrustedSync(join(folder, name)), FileGoneError, name);
  }
});

test("the inode that was checked is opened, although another file takes its name meanwhile", async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, "file");
  await writeFile(path, "first");
  const place = await open(path, O_PATH);
  t.after(() => place.close());
  execFileSync("mkfifo", [join(folder, "fifo")]);
  await rename(join(folder, "fifo"), path);
  const file = await openPlace(place, path);
  t.after(() => file.handle.close());
  assert.equal((await readWhole(file, path, 100)).toString(), "first");
});

test("a file is read to the limit, also one that has grown since it was opened", async (t) => {
  const path = join(await temporaryFolder(t), "file");
  await writeFile(path, "12345");
  const file = await openUntrusted(path);
  t.after(() => file.handle.close());
  await appendFile(path, "6789");
  assert.equal(file.stats.size, 5n);
  await assert.rejects(readWhole(file, path, 8), FileTooLargeError);
  assert.equal((await readWhole(file, path, 9)).toString(), "123456789");
});

test("a small file takes little memory, however large the limit is", async (t) => {
  const path = join(await temporaryFolder(t), "file");
  await writeFile(path, "12345");
  const file = await openUntrusted(path);
  t.after(() => file.handle.close());
  const bytes = await readWhole(file, path, 64 * 1024 * 1024);
  assert.equal(bytes.toString(), "12345");
  assert.ok(bytes.buffer.byteLength < 64, String(bytes.buffer.byteLength));
});

test("a file of the kernel is read whole, although one read gives a page of it", async (t) => {
  const path = "/proc/self/maps";
  const file = await openUntrusted(path);
  t.after(() => file.handle.close());
  const text = (await readWhole(file, path, 1024 * 1024)).toString();
  // The last mapping of a process.
  assert.match(text, /\n[^\n]*\[(vsyscall|stack|vdso)\]\n$/);
  await assert.rejects(readWhole(file, path, 5000), FileTooLargeError);
});

test("of a long file the end is read: also of a sparse one of a terabyte", async (t) => {
  const path = join(await temporaryFolder(t), "file");
  await writeFile(path, "12345");
  assert.deepEqual(await readTail(path, 5), { bytes: Buffer.from("12345"), whole: true });
  assert.deepEqual(await readTail(path, 2), { bytes: Buffer.from("45"), whole: false });
  await truncate(path, 2 ** 40);
  await appendFile(path, "end");
  assert.deepEqual(await readTail(path, 4), { bytes: Buffer.from("\0end"), whole: false });
});

/** Open files of this process at paths below the folder. */
async function openFilesBelow(folder: string): Promise<string[]> {
  const fds = await readdir("/proc/self/fd");
  const paths = await Promise.all(fds.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")));
  // The listening socket is not a path here.
  return paths.filter((path) => path.startsWith(folder));
}

test("a mounted file is written in place, shorter and longer", async (t) => {
  const path = join(await temporaryFolder(t), "file");
  for (const text of ["first", "a longer text", "", "end"]) {
    await writeUntrusted(path, text, 0o644);
    assert.equal(readFileSync(path, "utf8"), text);
  }
});

test("a mounted file keeps its content when no byte can be written", async (t) => {
  const path = join(await temporaryFolder(t), "file");
  await writeFile(path, "127.0.0.1 localhost");
  const module = import.meta.resolve("../../../../src/shared/io/fs/untrusted-file.js");
  const program = `await (await import(${JSON.stringify(module)})).writeUntrusted(process.argv[1], "new", 0o644)`;
  // A limit of file sizes fails each write, as a full disk does.
  const script = 'ulimit -f 0; trap "" XFSZ; exec "$0" --input-type=module -e "$1" "$2"';
  assert.throws(() => execFileSync("sh", ["-c", script, process.execPath, program, path], { stdio: "pipe" }), /EFBIG/);
  assert.equal(readFileSync(path, "utf8"), "127.0.0.1 localhost");
});
