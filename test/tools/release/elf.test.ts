// Symbols are removed from an executable, and all that is loaded stays.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { withoutSymbols } from "../../../tools/release/elf.js";
import { run } from "../../../tools/standalone/exec.js";
import { isSetupProblem } from "../../../tools/standalone/problem.js";

test("Node without symbols is smaller, runs, loads native modules and stays as it is when it is done again", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "nodelet-elf-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const whole = await readFile(process.execPath);
  const bare = withoutSymbols(whole);
  assert.ok(whole.length - bare.length > 10e6, `${whole.length} → ${bare.length}`);
  const node = join(dir, "node");
  await writeFile(node, bare, { mode: 0o755 });
  const program = 'require("koffi").load("libc.so.6"); console.log(process.version, process.features.tls)';
  const root = new URL("../../../..", import.meta.url).pathname;
  assert.equal(await run(node, ["-e", program], { cwd: root }), `${process.version} true\n`);
  assert.deepEqual(withoutSymbols(bare), bare);
});

test("a script is left as it is, and an executable of another form is refused", async () => {
  const script = Buffer.from("#!/bin/sh\n".padEnd(100, "#"));
  assert.equal(withoutSymbols(script), script);
  const head = (await readFile(process.execPath)).subarray(0, 64);
  const refuses = (file: Buffer): void => assert.throws(() => withoutSymbols(file), isSetupProblem);
  refuses(Buffer.from(head.map((byte, at) => (at === 4 ? 1 : byte))));
  refuses(Buffer.from(head.map((byte, at) => (at === 5 ? 2 : byte))));
  // The table of sections is cut off.
  refuses(head);
});
