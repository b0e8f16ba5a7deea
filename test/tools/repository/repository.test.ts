// Files of the repository for editors, GitHub and version managers agree with the code.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { generate } from "../../../tools/docs/generate.js";
import { MAINTAINER } from "../../../tools/release/build.js";
import { globSync } from "../../harness/glob.js";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url)).replace(/\/$/, "");
const read = (path: string): Promise<string> => readFile(join(ROOT, path), "utf8");
const CONTRACT = "tools/kubernetes/contract";
/** A page that is partly written by hand. */
const PARTLY = "SPECIFICATION.md";

test(".gitattributes marks every generated file, and only patterns that have files", async () => {
  const patterns = [...(await read(".gitattributes")).matchAll(/^\/(\S+) linguist-generated$/gm)].map(
    ([, one = ""]) => one,
  );
  const matches = (pattern: string, path: string): boolean =>
    new RegExp(
      `^${pattern
        .replaceAll(".", String.raw`\.`)
        .replaceAll("**", ".+")
        .replace(/(?<!\.)\*/g, "[^/]*")}$`,
    ).test(path);
  const generated = [
    ...(await generate(ROOT)).keys(),
    ...["package-lock.json", "tools/config-schema/kubelet-config.schema.json", "test/facts/later-fields.tsv"],
    ...globSync(join(ROOT, "src"), ".ts")
      .filter((name) => /(?:^|\/)gen\//.test(name))
      .map((name) => `src/${name}`),
    ...["tsv", "json"].flatMap((ending) => globSync(join(ROOT, CONTRACT), ending).map((name) => `${CONTRACT}/${name}`)),
  ];
  const marked = (path: string): boolean => patterns.some((pattern) => matches(pattern, path));
  assert.deepEqual(
    generated.filter((path) => path !== PARTLY && !marked(path)),
    [],
  );
  assert.deepEqual(
    patterns.filter((pattern) => !generated.some((path) => matches(pattern, path))),
    [],
  );
});

test(".nvmrc names the Node.js that the packages carry", async () => {
  const { version } = JSON.parse(await read("tools/build/node/package.json")) as { version: string };
  assert.equal(await read(".nvmrc"), `${version}\n`);
});

test("CODEOWNERS gives every file to the maintainers that the packages name", async () => {
  const [, address = ""] = /<([^<>]+)>/.exec(MAINTAINER) ?? [];
  assert.match(await read(".github/CODEOWNERS"), new RegExp(String.raw`^\* ${address}$`, "m"));
});

test(".editorconfig has the width of lines and the indentation of the formatter", async () => {
  const { printWidth } = JSON.parse(await read(".oxfmtrc.json")) as { printWidth: number };
  const text = await read(".editorconfig");
  assert.match(text, new RegExp(`^max_line_length = ${printWidth}$`, "m"));
  assert.match(text, /^indent_size = 2$/m);
});
