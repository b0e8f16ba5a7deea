// Packages that ask a class for its name still work in a bundle with short names.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url)).replace(/\/$/, "");
/** A list with one element, which is a sequence: the parser looks into it by its class. */
const PARSE = `
import { Sequence, Integer } from "asn1js";
import { AsnParser } from "@peculiar/asn1-schema";
const one = new Sequence({ value: [new Integer({ value: 7 }), new Integer({ value: 8 })] });
const item = { type: 5, repeated: "sequence" };
console.log(JSON.stringify(AsnParser.processRepeatedField([one], 0, item)));
`;

async function parsed(context: TestContext, plugins: Plugin[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "class-names-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "entry.mjs"), PARSE);
  await build({
    entryPoints: [join(folder, "entry.mjs")],
    outfile: join(folder, "bundle.cjs"),
    nodePaths: [join(ROOT, "node_modules")],
    bundle: true,
    platform: "node",
    format: "cjs",
    minify: true,
    plugins,
  });
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(folder, "bundle.cjs")], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

test("a certificate's list of one sequence is read as its elements", async (t) => {
  const { classNames } = (await import(join(ROOT, "tools/bundle/class-names.mjs"))) as { classNames: Plugin };
  assert.equal(await parsed(t, [classNames]), "[7,8]");
  // So this test would fail without it.
  assert.notEqual(await parsed(t, []), "[7,8]");
});
