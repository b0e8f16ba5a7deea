// The scripts that package managers run as root, and that of the tarball. One function removes the kubelet's state in
// all of them.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { STATE, STATE_ROOT } from "../install/layout.js";
import { REMOVE_NETWORK, RUNNING_PODS } from "../install/purge-guards.js";

const GUARDS = `${RUNNING_PODS}\n${REMOVE_NETWORK}\n`;

/** Text of a script below tools/release/scripts, with @GUARDS@, @PURGE_STATE@ and `words` filled in. */
export async function script(
  root: string,
  name: string,
  words: Readonly<Record<string, string>> = {},
): Promise<string> {
  const read = (file: string): Promise<string> => readFile(join(root, "tools/release/scripts", file), "utf8");
  const state = STATE.map((path) => `'${path}'`).join(" ");
  const purge = (await read("purge-state.sh")).replaceAll("@STATE@", state).replaceAll("@STATE_ROOT@", STATE_ROOT);
  let text = (await read(name))
    .replace("@GUARDS@\n", () => GUARDS)
    .replace("@PURGE_STATE@\n", () => `${GUARDS}${purge}`);
  for (const [word, value] of Object.entries(words)) text = text.replaceAll(`@${word}@`, value);
  return text;
}
