// The commands of a checkout run on the Node that the packages carry, which npm brings (tools/build/node). The Node on
// the machine only starts them. So a test means the same on each machine, and an old Node is no obstacle.

import { spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { dirname, delimiter, join } from "node:path";

/**
 * Set for a command that was started again: the Node on the machine. npm sets npm_node_execpath; its scripts find the
 * pinned Node first.
 */
const INSTALLED_NODE = "NODELET_INSTALLED_NODE";

/** Path of the Node that npm brought; undefined if it is not there. */
function pinnedNode(root) {
  const path = join(root, "node_modules", `node-linux-${process.arch}`, "bin", "node");
  return existsSync(path) ? path : undefined;
}

/**
 * Starts this command again on the pinned Node, and ends with it. Returns if this is that Node, or if there is none.
 * The second process ends when the first one does, however that ends.
 */
export async function continueOnPinnedNode(root) {
  if (process.env[INSTALLED_NODE] !== undefined) return followParent();
  const node = pinnedNode(root);
  if (node === undefined || realpathSync(node) === process.execPath) return;
  const path = [dirname(node), process.env.PATH ?? ""].join(delimiter);
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, PATH: path, [INSTALLED_NODE]: process.execPath },
  });
  // Ctrl-C reaches both processes; this one waits for the other.
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  const { status, signal } = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (status, signal) => resolve({ status, signal }));
  });
  if (signal !== null) console.error(`nodelet: the command ended by ${signal}`);
  process.exit(status ?? 1);
}

/** Without its parent, nothing on the terminal shows what this process does. */
function followParent() {
  if (!process.connected) return;
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel.unref();
}
