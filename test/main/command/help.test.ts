import { equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { FLAGS_BY_GROUP, flagsOf } from "../../../src/main/command/flags/table.js";
import { helpText } from "../../../src/main/command/help.js";

/** A flag's lines in the help, as one. */
function entryOf(help: string, name: string): string {
  const lines = help.split("\n");
  const dashed = name.length === 1 ? `-${name}` : `--${name}`;
  const from = lines.findIndex((line) => new RegExp(`^  (-\\w, )?${dashed}( |$)`).test(line));
  ok(from >= 0, name);
  const to = lines.findIndex((line, i) => i > from && !line.startsWith("      "));
  return lines.slice(from, to).join(" ").replace(/\s+/g, " ");
}

describe("help", () => {
  const help = helpText(80, "linux");
  const flags = [...flagsOf("linux").byName];

  test("names every flag once, with its default and its replacement", () => {
    equal(help.match(/^ {2}-/gm)?.length, flags.length);
    for (const [name, flag] of flags) {
      const entry = entryOf(help, name);
      if (!["", "0", "0s", "false"].includes(flag.default)) ok(entry.includes(`(default ${flag.default})`), name);
      equal(entry.includes("DEPRECATED"), flag.deprecated !== undefined, name);
      if (flag.deprecated !== undefined) ok(entry.includes(`DEPRECATED: ${flag.deprecated}`), name);
    }
  });

  test("each flag stands in its subject's section", () => {
    for (const [group, rows] of Object.entries(FLAGS_BY_GROUP)) {
      if (group === "Windows") continue;
      const [, section = ""] = help.split(`\n${group}:\n`);
      for (const name of Object.keys(rows)) ok(entryOf(`${section.split("\n\n")[0] ?? ""}\n`, name) !== "", name);
    }
  });

  for (const columns of [60, 80, 100, 200]) {
    test(`keeps breakable lines within ${columns} columns`, () => {
      for (const line of helpText(columns, "linux").split("\n")) {
        const breakable = line.startsWith("      ") && line.trim().includes(" ");
        if (breakable) ok(line.length <= columns, line);
      }
    });
  }

  test("shows Windows' flags there only", () => {
    ok(!help.includes("--windows-service"));
    ok(helpText(80, "win32").includes("--windows-service"));
  });
});
