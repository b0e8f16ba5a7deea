// Credential plugins as shell scripts, in a folder that ends with the test file.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import type { ExecConfig } from "../../../../../../src/shared/kubernetes/api/client/config.js";

export const V1 = "client.authentication.k8s.io/v1";
export let dir: string;
before(async () => (dir = await mkdtemp(join(tmpdir(), "nodelet-exec-"))));
after(() => rm(dir, { recursive: true, force: true }));

let scripts = 0;
/** A plugin of that text. */
export async function script(text: string, more: Partial<ExecConfig> = {}): Promise<ExecConfig> {
  const file = join(dir, `plugin-${scripts++}`);
  await writeFile(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  const none = { args: [], env: [], installHint: "install it from example.org", provideClusterInfo: false };
  return { apiVersion: V1, command: file, ...none, ...more };
}
export const credential = (status: object, apiVersion = V1): string =>
  JSON.stringify({ kind: "ExecCredential", apiVersion, status });
/** Each run prints the next token: secret-1, secret-2, …; `until`: when they end. */
export async function counting(until = ""): Promise<{ exec: ExecConfig; runs: () => Promise<number> }> {
  const file = join(dir, `runs-${scripts}`);
  const printed = credential({ token: "secret-@", ...(until === "" ? {} : { expirationTimestamp: until }) });
  const exec = await script(`echo >> ${file}; echo '${printed}' | sed "s/@/$(wc -l < ${file})/"`);
  return { exec, runs: async () => (await readFile(file, "utf8").catch(() => "")).length };
}
