// Notice of a cgroup v1 whose memory use crosses a mark, either way: eventfd(2) and cgroup.event_control. v2 has no
// such thing.

import { closeSync, openSync, writeFileSync } from "node:fs";
import { libc } from "./libc.js";
import { readDescriptor } from "./readable.js";

const NONBLOCK = 0o4000;
const CLOEXEC = 0o2000000;

/**
 * @param directory The cgroup's, in the memory hierarchy.
 * @param bytes The mark.
 * @param onCrossed Called also when the cgroup is removed, and now and then for nothing: look before you act.
 * @throws OsCallError; Node's own error when the cgroup is removed or accepts no marks.
 */
export function watchMemcgUsage(directory: string, bytes: number, onCrossed: () => void): Disposable {
  const about = `a mark for the memory use of ${directory}`;
  const { socket, fd } = readDescriptor(libc("eventfd", about, 0, NONBLOCK | CLOEXEC), about);
  try {
    const usage = openSync(`${directory}/memory.usage_in_bytes`, "r");
    try {
      writeFileSync(`${directory}/cgroup.event_control`, `${fd} ${usage} ${Math.trunc(bytes)}`);
    } finally {
      // The kernel keeps memory that it needs.
      closeSync(usage);
    }
  } catch (error) {
    socket.destroy();
    throw error;
  }
  socket.on("data", onCrossed);
  socket.on("error", () => socket.destroy());
  socket.unref();
  return { [Symbol.dispose]: () => void socket.destroy() };
}
