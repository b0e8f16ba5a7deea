// Manual pages and completions are made of the tables of flags and commands, and shells and man read them.
// @promise Packages and documents: Manual pages and completions have every flag, command and option; man renders
//   without a warning; bash, zsh and fish accept the scripts.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { COMPLETIONS } from "../../../src/cli/commands/completion.js";
import { bashCompletion } from "../../../src/cli/completion/bash.js";
import { flagsOf } from "../../../src/main/command/flags/table.js";
import { kubeletManual, kubeletTable } from "../../../tools/release/manual/kubelet.js";
import { nodeletManual, nodeletTable } from "../../../tools/release/manual/nodelet.js";
import { plain } from "../../../tools/release/manual/roff.js";
import { findExecutable, run } from "../../../tools/standalone/exec.js";

const PAGES = { kubelet: kubeletManual("0.1.0", 0), nodelet: nodeletManual("0.1.0", 0) };
const MACRO = /^\.(TH|SH|SS|TP|PP)( |$)/;

test("kubelet(8) has every flag, nodelet(1) every command and option", () => {
  for (const [name, flag] of flagsOf("linux").byName) {
    const words = flag.short === name ? `-${name}` : `--${name}`;
    assert.ok(PAGES.kubelet.includes(`\\fB${plain(words)}\\fR`), name);
    assert.ok(PAGES.kubelet.includes(plain(flag.help)), name);
  }
  const { commands, options } = nodeletTable();
  assert.ok(commands.length > 10);
  for (const command of commands) {
    assert.ok(PAGES.nodelet.includes(`\n.SS ${plain([command.name, ...command.args].join(" "))}\n`), command.name);
  }
  for (const { names } of options) assert.ok(PAGES.nodelet.includes(plain(names.at(-1) ?? "")), names.join());
});

test("no text of a flag or command is read as a macro", () => {
  for (const text of Object.values(PAGES)) {
    for (const line of text.split("\n")) if (/^[.']/.test(line)) assert.match(line, MACRO);
  }
  assert.equal(plain(".dot \\ -"), "\\&.dot \\e \\-");
});

test("man renders the pages without a warning", async (t) => {
  if ((await findExecutable("groff")) === undefined) {
    t.skip("no groff");
    return;
  }
  const dir = await mkdtemp(join(tmpdir(), "nodelet-manual-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(PAGES)) {
    await writeFile(join(dir, name), text);
    const said = await run("sh", ["-c", `groff -man -Tutf8 -ww -z ${join(dir, name)} 2>&1`]);
    assert.equal(said, "", name);
  }
});

test("bash completes commands, options and values", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "nodelet-values-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  await writeFile(join(dir, "config.yaml"), "");
  const complete = async (table: ReturnType<typeof nodeletTable>, ...words: string[]): Promise<string[]> => {
    const quoted = words.map((word) => `'${word}'`).join(" ");
    const text = `${bashCompletion(table)}
      COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _${table.name}; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return (await run("bash", ["-c", text])).trim().split("\n");
  };
  const nodelet = nodeletTable();
  assert.deepEqual(await complete(nodelet, "nodelet", "sta"), ["status"]);
  assert.deepEqual(await complete(nodelet, "nodelet", "-o", "json", "timel"), ["timeline"]);
  assert.deepEqual(await complete(nodelet, "nodelet", "-o", "w"), ["wide"]);
  assert.deepEqual(await complete(nodelet, "nodelet", "--output", "=", "y"), ["yaml"]);
  assert.deepEqual(await complete(nodelet, "nodelet", "logs", "--ti"), ["--timestamps"]);
  assert.deepEqual(await complete(nodelet, "nodelet", "completion", ""), ["bash", "zsh", "fish"]);
  assert.deepEqual(await complete(kubeletTable(), "kubelet", "--check"), ["--check-config"]);
  assert.deepEqual(await complete(kubeletTable(), "kubelet", "--config", join(dir, "con")), [join(dir, "config.yaml")]);
});

test("bash completes names of pods and containers from the socket that the words name, and none without a kubelet", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "nodelet-names-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const program = join(dir, "nodelet");
  const script = `#!/bin/bash
case "$*" in
  "__names --socket /none"*) exit 3 ;;
  "__names --socket /s -n shop --containers-of cart") echo app ;;
  "__names -n shop") echo cart ;;
  "__names") printf 'web\\nwiki\\ndb\\n' ;;
esac
`;
  await writeFile(program, script, { mode: 0o755 });
  const complete = async (...words: string[]): Promise<string> => {
    const quoted = words.map((word) => `'${word}'`).join(" ");
    const text = `${bashCompletion(nodeletTable())}
      COMP_WORDS=('${program}' ${quoted}); COMP_CWORD=${words.length}; _nodelet; printf '%s ' "\${COMPREPLY[@]}"`;
    return (await run("bash", ["-c", text])).trim();
  };
  assert.equal(await complete("logs", "w"), "web wiki");
  assert.equal(await complete("logs", "web", ""), "");
  assert.equal(await complete("delete", "web", "d"), "db");
  assert.equal(await complete("-n", "shop", "why", ""), "cart");
  assert.equal(await complete("logs", "-n", "shop", "-f", ""), "cart");
  assert.equal(await complete("--socket", "=", "/s", "exec", "-n", "shop", "-it", "cart", "-c", ""), "app");
  assert.equal(await complete("--socket", "/none", "logs", ""), "");
  await writeFile(join(dir, "pod.yaml"), "");
  assert.equal(await complete("apply", "-f", join(dir, "pod")), join(dir, "pod.yaml"));
});

test("each shell accepts the syntax of its scripts", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "nodelet-completion-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  for (const [shell, make] of Object.entries(COMPLETIONS)) {
    if ((await findExecutable(shell)) === undefined) continue;
    for (const table of [kubeletTable(), nodeletTable()]) {
      const file = join(dir, `${table.name}.${shell}`);
      await writeFile(file, make(table));
      await run(shell, ["-n", file]);
    }
  }
});
