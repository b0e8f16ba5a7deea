// The rule nodelet/dependency-lists on small repositories: which imports it lets pass, and which lists it refuses.

import { deepEqual } from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { reports } from "./lint-kit.js";

/** Makes a repository of these files; a name that ends with "/" is a folder. Returns a linter of code in it. */
async function repository(t: TestContext, files: Record<string, string>) {
  const cwd = await mkdtemp(join(tmpdir(), "dependency-lists-"));
  t.after(() => rm(cwd, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(cwd, dirname(`${name}x`)), { recursive: true });
    if (!name.endsWith("/")) await writeFile(join(cwd, name), text);
  }
  return (file: string, code: string): string[] =>
    reports("dependency-lists", `${code}\n`, { cwd, file }).map((report) => report.replaceAll(`${cwd}/`, ""));
}

const LAYERS = { "src/sync/": "", "src/planner/": "", "src/model/": "" };
const LIST = "# layers\nsync: planner model\nplanner: model # pure\nmodel:\n";

test("an import along the list is accepted at every depth", async (t) => {
  const linted = await repository(t, { ...LAYERS, "src/DEPS.list": LIST });
  deepEqual(linted("src/sync/loop.ts", 'import { plan } from "../planner/plan.js";'), []);
  deepEqual(linted("src/sync/deep/loop.ts", 'import { Pod } from "../../model/api/pod.js";'), []);
  deepEqual(linted("src/sync/loop.ts", 'import { other } from "./other.js"; import fs from "node:fs";'), []);
});

test("an arrow that the list lacks is reported for every kind of import", async (t) => {
  const linted = await repository(t, { ...LAYERS, "src/DEPS.list": LIST });
  const fault = ["1: src/DEPS.list does not let model import sync"];
  for (const code of [
    'import { loop } from "../sync/loop.js";',
    'import type { Loop } from "../sync/loop.js";',
    'export { loop } from "../sync/loop.js";',
    'export * from "../sync/loop.js";',
    'const loop = import("../sync/loop.js");',
    'type Loop = import("../sync/loop.js").Loop;',
  ]) {
    deepEqual(linted("src/model/pod.ts", code), fault, code);
  }
});

test("files that stand in the common folder itself are free", async (t) => {
  const linted = await repository(t, { ...LAYERS, "src/DEPS.list": LIST });
  deepEqual(linted("src/main.ts", 'import { loop } from "./sync/loop.js";'), []);
  deepEqual(linted("src/model/pod.ts", 'import { main } from "../main.js";'), []);
});

test("the list of the deepest common folder decides", async (t) => {
  const linted = await repository(t, {
    ...{ "src/DEPS.list": "pods: model\nmodel:\n", "src/model/": "" },
    ...{ "src/pods/sync/": "", "src/pods/status/": "", "src/pods/DEPS.list": "sync: status\nstatus:\n" },
  });
  deepEqual(linted("src/pods/sync/a.ts", 'import "../status/b.js";'), []);
  deepEqual(linted("src/pods/status/b.ts", 'import "../sync/a.js";'), [
    "1: src/pods/DEPS.list does not let status import sync",
  ]);
});

test("a folder without a list may not have imports between its folders", async (t) => {
  const linted = await repository(t, LAYERS);
  deepEqual(linted("src/sync/loop.ts", 'import "../model/pod.js";'), [
    "1: src/DEPS.list is missing: sync imports model, so the folder needs an order",
  ]);
});

const WRONG: readonly (readonly [what: string, list: string, message: string])[] = [
  ["lacks a folder's line", "sync: model\nmodel:\n", "src/DEPS.list: no line for planner"],
  [
    "names an earlier line",
    "planner:\nsync: model\nmodel: planner\n",
    "src/DEPS.list:3: planner has no later line, so model may not import it",
  ],
  [
    "names a folder that has no line",
    "sync: model cluster\nplanner:\nmodel:\n",
    "src/DEPS.list:1: cluster has no later line, so sync may not import it",
  ],
  [
    "names its own line",
    "sync: sync\nplanner:\nmodel:\n",
    "src/DEPS.list:1: sync has no later line, so sync may not import it",
  ],
  [
    "has a line for a folder that is gone",
    "sync: model\nplanner:\ncluster:\nmodel:\n",
    "src/DEPS.list:3: no folder cluster",
  ],
  [
    "has a line without a colon",
    "sync model\nplanner:\nmodel:\n",
    'src/DEPS.list:1: expected "folder: folder folder …"',
  ],
];

for (const [what, list, message] of WRONG) {
  test(`a list that ${what} is refused with its place`, async (t) => {
    const linted = await repository(t, { ...LAYERS, "src/DEPS.list": list });
    deepEqual(linted("src/sync/loop.ts", 'import "../model/pod.js";'), [`1: ${message}`]);
  });
}

test("files outside src have no lists", async (t) => {
  const linted = await repository(t, { ...LAYERS, "src/DEPS.list": LIST });
  deepEqual(linted("test/sync/loop.test.ts", 'import "../../src/model/pod.js"; import "../model/pod.js";'), []);
});
