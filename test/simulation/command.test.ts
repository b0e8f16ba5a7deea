// The words of `npm run simulate`: a mistake is one line with status 2.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { FAULT_KINDS } from "./plan/events.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const run = promisify(execFile);

const MISTAKES: readonly (readonly [words: string[], line: RegExp])[] = [
  [["--seed", "x"], /^nodelet: --seed must be a whole number .* not "x"/],
  [["--seed", "-1"], /^nodelet: --seed needs a value; one that begins with a dash is written --seed=-…$/m],
  [["--seed=-1"], /^nodelet: --seed must be a whole number .* not "-1"/],
  [["--hours", "0"], /^nodelet: --hours must be a number of hours above 0/],
  [["--count", "1.5"], /^nodelet: --count must be a whole number/],
  [["--faults", "fire"], /^nodelet: --faults: there is no fault "fire"; there are process, /],
  [["--race", "horses"], /^nodelet: --race must be one of static-pod-added-again, .* not "horses"/],
  [["--aims", "kill"], /^nodelet: --aims must be like kill:StartContainer, not "kill"/],
  [["--mutant", "horses"], /^nodelet: --mutant: no fault of .* has "horses" in its name/],
  [["--mutants", "--race", "all"], /^nodelet: --mutants and --race do not go together/],
  [["--race", "all", "--hours", "2"], /^nodelet: --race and --hours do not go together/],
  [["--count", "2", "--minutes", "3"], /^nodelet: --count and --minutes do not go together/],
  [["--nope"], /^nodelet: Unknown option '--nope'/],
  [["word"], /^nodelet: /],
];

for (const [words, line] of MISTAKES) {
  test(`"${words.join(" ")}" gets one line and status 2`, async () => {
    await assert.rejects(run(process.execPath, ["test/simulate.mjs", ...words], { cwd: root }), (error) => {
      assert.ok(error instanceof Error && "stderr" in error && "code" in error);
      const text = String(error.stderr);
      assert.equal(error.code, 2);
      assert.match(text, line);
      assert.equal(text.trimEnd().split("\n").length, 1);
      return true;
    });
  });
}

test("--help names every kind of fault, and so does the page", async () => {
  const { stdout } = await run(process.execPath, ["test/simulate.mjs", "--help"], { cwd: root });
  const page = await readFile(`${root}docs/simulation.md`, "utf8");
  for (const kind of FAULT_KINDS) {
    assert.ok(stdout.includes(kind), kind);
    assert.ok(page.includes(`| \`${kind}\` |`), kind);
  }
});
