// Files of environment variables: accepted and rejected texts. Every accepted file means the same to a shell.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { readEnvFile, valueOf } from "../../../../../src/main/containers/runtime/config/env-file.js";

const envFileValue = (text: string, key: string): string => valueOf(readEnvFile(text), key);

const ACCEPTED: [what: string, text: string, key: string, value: string][] = [
  ["plain", "A='1'\nB='2'\n", "B", "2"],
  ["no line break at the end", "A='1'", "A", "1"],
  ["blanks before the name, blank lines, comments", "\n  # c\n\t A='1'\n   \n", "A", "1"],
  ["several lines", "M='one\ntwo\n'\nA='1'", "M", "one\ntwo\n"],
  ["after several lines", "M='one\n# two = x\n'\nA='1'", "A", "1"],
  ["a comment behind the value", "A='1' # it's one\nB='2'", "B", "2"],
  ["nothing is expanded", "A='$HOME \\n \"x\" #'", "A", '$HOME \\n "x" #'],
  ["empty", "A=''\n", "A", ""],
  ["nothing behind =", "A=\nB='2'", "B", "2"],
  ["missing", "A='1'", "B", ""],
  ["= in the value", "A='x=y'", "A", "x=y"],
];

test("values as they stand in single quotes", () => {
  for (const [what, text, key, value] of ACCEPTED) assert.equal(envFileValue(text, key), value, what);
});

test("a shell reads the same", () => {
  for (const [what, text, key, value] of ACCEPTED) {
    const { stdout } = spawnSync("sh", ["-c", `eval "$(cat)"; printf %s "$${key}"`], { input: text, env: {} });
    assert.equal(stdout.toString(), value, what);
  }
});

test("what upstream takes beyond a shell's syntax is taken", () => {
  const rows: [what: string, text: string, value: string][] = [
    ["a line of a shell's export", "export B='2'\nA='1'", "1"],
    ["a name with a quote or a hash", "b'#='2'\nA='1'", "1"],
    ["a comment right behind the quote", "A='1'# one", "1"],
    ["lines that end with CR LF, and blank ones", "\r\n \r\nA='one\r\ntwo'\r\n", "one\ntwo"],
  ];
  for (const [what, text, value] of rows) assert.equal(envFileValue(text, "A"), value, what);
});

test("a blank between = and the quote makes the value empty", () => {
  assert.equal(envFileValue("A= '1'\nB='2'", "A"), "");
  assert.equal(envFileValue("A= '1'\nB='2'", "B"), "2");
});

test("everything else is refused, with its line", () => {
  const rows: [string, RegExp][] = [
    ["A=1", /line 1: the value is not in single quotes/],
    ['\nA="1"', /line 2/],
    ["A = '1'", /line 1: no VAR='value'/],
    ["A", /line 1/],
    ["='x'", /line 1/],
    ["M='one\ntwo'\nA='1''2'", /line 3: something follows the value/],
    ["A='1'x", /line 1/],
    ["\fA='1'x", /line 1/],
    ["X='y'\nA='1", /line 2: the quote is not closed/],
  ];
  for (const [text, message] of rows) {
    assert.throws(() => envFileValue(text, "Z"), { name: "EnvFileError", message }, text);
  }
});

test("text after the variable is ignored", () => {
  assert.equal(envFileValue("A='1'\nnonsense", "A"), "1");
});

test("of variables with one name the first counts", () => {
  assert.equal(envFileValue("A='1'\nA='2'\n", "A"), "1");
});
