// V8's code cache for the Node that will run the kubelet (docs/adr/0057). The build made one for its own Node.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "../standalone/problem.js";

/** Without a cache the kubelet only starts more slowly. `agent`: the folder of the installed bundle. */
export async function makeCodeCache(
  node: string,
  nodeFlags: readonly string[],
  agent: string,
  say: (line: string) => void,
): Promise<void> {
  try {
    await promisify(execFile)(node, [...nodeFlags, join(agent, "make-cache.js"), agent], { timeout: 60_000 });
  } catch (error) {
    say(`no code cache, the kubelet will start more slowly: ${messageOf(error)}`);
  }
}
