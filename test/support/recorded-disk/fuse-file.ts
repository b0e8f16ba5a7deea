// A FUSE file system that is one file: the kernel's requests as calls, one after the other. Only what a loop device on
// that file asks for is answered; everything else is refused with ENOSYS.

import { spawn } from "node:child_process";
import { open, type FileHandle } from "node:fs/promises";
import { errorCode } from "../../../src/shared/base/errors/error-code.js";

export interface DiskFile {
  size: number;
  read(offset: number, length: number): Promise<Buffer>;
  /** Resolves before the kernel hears that the data is written. */
  write(offset: number, data: Buffer): Promise<void>;
  /** All that was written before is on the disk. */
  flush(): Promise<void>;
}

/** include/uapi/linux/fuse.h */
const OP = {
  forget: 2,
  getattr: 3,
  setattr: 4,
  open: 14,
  read: 15,
  write: 16,
  release: 18,
  fsync: 20,
  flush: 25,
  init: 26,
  interrupt: 36,
  destroy: 38,
  batchForget: 42,
} as const;
const NO_REPLY = new Set<number>([OP.forget, OP.interrupt, OP.batchForget]);
/** The request is gone: before it was read, or before it was answered. */
const CALLED_OFF = new Set(["ENOENT", "EINTR", "EAGAIN"]);
const ENOSYS = -38;
const IN_HEADER = 40;
const OUT_HEADER = 16;
const MAX_WRITE = 128 * 1024;
const REGULAR_FILE = 0o100600;
const VERSION = { major: 7, minor: 31 };

/** Mounts the file at `path`, which is a file itself, and serves it until it is unmounted. */
export async function serveFile(path: string, disk: DiskFile, onMounted: () => void): Promise<void> {
  const fuse = await open("/dev/fuse", "r+");
  try {
    await mount(path, fuse);
    onMounted();
    await serve(fuse, disk);
  } finally {
    await fuse.close();
  }
}

async function mount(path: string, fuse: FileHandle): Promise<void> {
  const options = `fd=3,rootmode=${REGULAR_FILE.toString(8)},user_id=0,group_id=0`;
  const args = ["-i", "-t", "fuse", "-o", options, "nodelet-test", path];
  const child = spawn("mount", args, { stdio: ["ignore", "inherit", "inherit", fuse.fd] });
  const status = await new Promise<number | null>((resolve, reject) => child.on("error", reject).on("exit", resolve));
  if (status !== 0) throw new Error(`mount ${args.join(" ")} ended with ${status}`);
}

async function serve(fuse: FileHandle, disk: DiskFile): Promise<void> {
  const buffer = Buffer.alloc(MAX_WRITE + 4096);
  for (;;) {
    try {
      const { bytesRead } = await fuse.read(buffer, 0, buffer.length, null);
      const reply = await replyTo(buffer.subarray(0, bytesRead), disk);
      if (reply !== undefined) await fuse.write(reply);
    } catch (error) {
      const code = errorCode(error) ?? "";
      if (code === "ENODEV") return;
      if (!CALLED_OFF.has(code)) throw error;
    }
  }
}

async function replyTo(request: Buffer, disk: DiskFile): Promise<Buffer | undefined> {
  const operation = request.readUInt32LE(4);
  if (NO_REPLY.has(operation)) return undefined;
  const answer = await answerTo(operation, request.subarray(IN_HEADER), disk);
  const body = typeof answer === "number" ? Buffer.alloc(0) : answer;
  const header = Buffer.alloc(OUT_HEADER);
  header.writeUInt32LE(OUT_HEADER + body.length, 0);
  header.writeInt32LE(typeof answer === "number" ? answer : 0, 4);
  request.copy(header, 8, 8, 16);
  return Buffer.concat([header, body]);
}

/** The body of the reply, or an error number. */
async function answerTo(operation: number, body: Buffer, disk: DiskFile): Promise<Buffer | number> {
  const offset = (): number => Number(body.readBigUInt64LE(8));
  const size = (): number => body.readUInt32LE(16);
  switch (operation) {
    case OP.init:
      return initReply(body.readUInt32LE(8));
    case OP.getattr:
    case OP.setattr:
      return attributes(disk.size);
    case OP.open:
      return Buffer.alloc(16);
    case OP.read:
      return await disk.read(offset(), Math.max(0, Math.min(size(), disk.size - offset())));
    case OP.write: {
      await disk.write(offset(), Buffer.from(body.subarray(40, 40 + size())));
      const reply = Buffer.alloc(8);
      reply.writeUInt32LE(size(), 0);
      return reply;
    }
    case OP.fsync:
      await disk.flush();
      return 0;
    case OP.flush:
    case OP.release:
    case OP.destroy:
      return 0;
    default:
      return ENOSYS;
  }
}

function initReply(maxReadahead: number): Buffer {
  const reply = Buffer.alloc(64);
  reply.writeUInt32LE(VERSION.major, 0);
  reply.writeUInt32LE(VERSION.minor, 4);
  reply.writeUInt32LE(maxReadahead, 8);
  reply.writeUInt32LE(MAX_WRITE, 20);
  reply.writeUInt32LE(1, 24);
  return reply;
}

function attributes(size: number): Buffer {
  const reply = Buffer.alloc(16 + 88);
  reply.writeBigUInt64LE(3600n, 0);
  reply.writeBigUInt64LE(1n, 16);
  reply.writeBigUInt64LE(BigInt(size), 24);
  reply.writeBigUInt64LE(BigInt(Math.ceil(size / 512)), 32);
  reply.writeUInt32LE(REGULAR_FILE, 16 + 60);
  reply.writeUInt32LE(1, 16 + 64);
  reply.writeUInt32LE(4096, 16 + 80);
  return reply;
}
