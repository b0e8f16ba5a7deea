// One build at a time in a checkout. The lock is an abstract Unix socket (unix(7)): the kernel releases it when its
// holder ends in any way, so a killed build leaves nothing behind. Other systems than Linux have no such sockets:
// builds there take no lock.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const LOOK_AGAIN_MS = 50;

/** Runs `work` while this process holds the lock of `name`; calls `onWait` once if another process has it. */
export async function withLock(name, work, onWait = () => {}) {
  if (process.platform !== "linux") return work();
  const path = `\0nodelet-build-${createHash("sha256").update(name).digest("hex").slice(0, 16)}`;
  let lock = await take(path);
  if (lock === undefined) onWait();
  while (lock === undefined) {
    await sleep(LOOK_AGAIN_MS);
    lock = await take(path);
  }
  try {
    return await work();
  } finally {
    lock.close();
    await once(lock, "close");
  }
}

async function take(path) {
  const server = createServer((socket) => socket.destroy()).listen(path);
  try {
    await once(server, "listening");
    return server;
  } catch (error) {
    if (error.code === "EADDRINUSE") return undefined;
    throw error;
  }
}
