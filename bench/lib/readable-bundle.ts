// The kubelet's bundle with the names of the sources, for profilers: dist/agent-readable. The installed one has short
// names (docs/adr/0132).

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "../../tools/standalone/exec.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const FOLDER = join(ROOT, "dist/agent-readable");
/** In the folder: of which sources it was made. */
const STATE = join(FOLDER, "made-of.txt");
const TIMEOUT_MS = 10 * 60_000;

/** Makes the bundle if the last build had other sources. Returns the kubelet's entry in it. */
export async function readableKubelet(): Promise<string> {
  const { bundle } = JSON.parse(await readFile(join(ROOT, "dist/.build.json"), "utf8")) as { bundle: string };
  if ((await readFile(STATE, "utf8").catch(() => "")) !== bundle) {
    console.log("bundling the kubelet with the names of the sources");
    await run(process.execPath, [join(ROOT, "tools/bundle/main.mjs"), "--readable"], { timeoutMs: TIMEOUT_MS });
    await writeFile(STATE, bundle);
  }
  return join(FOLDER, "main/kubelet.js");
}
