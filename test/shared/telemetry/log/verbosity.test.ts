// --vmodule's patterns are Go globs over module names.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { matchGlob, moduleVerbosity } from "../../../../src/shared/telemetry/log/module-verbosity.js";

describe("vmodule", () => {
  const table: [pattern: string, subject: string, matches: boolean][] = [
    ["sync-loop", "sync-loop", true],
    ["sync-loop", "sync-loops", false],
    ["sync*", "sync-loop", true],
    ["*", "anything", true],
    ["*", "a/b", false],
    ["*/b", "a/b", true],
    ["pod-?orker", "pod-worker", true],
    ["pod-?", "pod-", false],
    ["a?b", "a/b", false],
    ["[a-c]x", "bx", true],
    ["[^a-c]x", "bx", false],
    ["[^a-c]x", "dx", true],
    ["[^a]", "/", false],
    ["[a\\]]x", "]x", true],
    ["a\\*", "a*", true],
    ["a\\*", "ab", false],
    ["a.c", "abc", false],
    ["(a|b)", "a", false],
    ["[", "[", false],
    ["[z-a]", "b", false],
    ["a\\", "a", false],
    ["[.]", "x", false],
  ];
  for (const [pattern, subject, matches] of table) {
    test(`${pattern} ${matches ? "is" : "is not"} ${subject}`, () =>
      assert.equal(matchGlob(pattern, subject), matches));
  }

  const rules = [
    { filePattern: "sync-loop", verbosity: 2 },
    { filePattern: "sync*", verbosity: 9 },
    { filePattern: "pleg/*", verbosity: 5 },
  ];
  for (const [thread, module, verbosity] of [
    ["main", "sync-loop", 2],
    ["main", "sync-other", 9],
    ["pleg", "relister", 5],
    ["main", "relister", 0],
  ] as const) {
    test(`first match counts: ${thread}/${module}`, () =>
      assert.equal(moduleVerbosity(rules, thread, module), verbosity));
  }
});
