// Rules about headers, comments, docstrings and titles: each accepts what it should and reports what it should.

import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { RULES, reports } from "./lint-kit.js";

test("every rule of the plugin has a test", () => {
  const tested = [
    "comment-width",
    "conditional-spread",
    "dependency-lists",
    "deps-spread",
    "docstring-subject",
    "one-idea",
    "test-title",
  ];
  deepEqual([...RULES].sort(), tested);
});

describe("comment-width", () => {
  const words = (columns: number): string => `// ${"word ".repeat(40)}`.slice(0, columns).replace(/ $/, "x");

  test("a comment may end at column 120", () => {
    deepEqual(reports("comment-width", `${words(120)}\nconst a = 1;\n`), []);
  });

  test("a comment that ends at column 121 is reported", () => {
    deepEqual(reports("comment-width", `const a = 1;\n${words(121)}\n`), [
      "2: the comment ends at column 121: wrap it at 120",
    ]);
  });

  test("each long line of a docstring is reported", () => {
    const text = `/**\n * short\n * ${words(121).slice(3)}\n */\nconst a = 1;\n`;
    deepEqual(reports("comment-width", text), ["3: the comment ends at column 121: wrap it at 120"]);
  });

  test("an address, a directive and a comment behind code stay", () => {
    const address = `// see https://kubernetes.io/${"a".repeat(120)}`;
    const directive = `// @ts-expect-error ${"word ".repeat(30)}`;
    const behind = `const a = 1; ${words(121)}`;
    deepEqual(reports("comment-width", [address, directive, behind, ""].join("\n")), []);
  });
});

describe("conditional-spread", () => {
  const fault = ["1: list the member: `x` may be undefined, or omitUndefined (shared/base/objects) builds the object"];

  test("a literal that lists its members, and a spread of a value, are accepted", () => {
    for (const text of ["{ x }", "{ x: y ?? undefined }", "{ ...a, x }", "{ ...(y ? a : b) }", "[...(y ? [x] : [])]"]) {
      deepEqual(reports("conditional-spread", `const a = ${text};\n`), [], text);
    }
  });

  test("a spread that adds a member or none is reported, and so is a spread of a literal", () => {
    for (const text of ["...(y && { x })", "...(y ? { x } : {})", "...(y ? {} : { x })", "...{ x, z }"]) {
      deepEqual(reports("conditional-spread", `const a = { ${text} };\n`), fault, text);
    }
  });
});

describe("deps-spread", () => {
  test("named members, options and lists are accepted", () => {
    for (const text of ["{ clock, log: deps.log }", "{ ...options, log }", "[...deps]", "{ ...rest, clock }"]) {
      deepEqual(reports("deps-spread", `const a = ${text};\n`), [], text);
    }
  });

  test("collaborators that are handed on whole are reported", () => {
    for (const text of ["{ ...deps, log }", "{ ...this.deps }", "{ log, ...parts }", "{ ...collaborators }"]) {
      const fault = ["1: name what the part needs in place of the whole bag"];
      deepEqual(reports("deps-spread", `const a = ${text};\n`), fault, text);
    }
  });
});

describe("docstring-subject", () => {
  const fault = (words: string): string => `1: the docstring begins with "${words}": say what the symbol is`;

  test("a docstring that names its subject is accepted", () => {
    const texts = ["/** Deadline of the run. */", "/** Office of the node. */", "/** The sameness of two pods. */"];
    for (const text of texts) deepEqual(reports("docstring-subject", `${text}\nconst a = 1;\n`), [], text);
  });

  test("a docstring that continues the name is reported", () => {
    deepEqual(reports("docstring-subject", "/** Of the run. */\nconst a = 1;\n"), [fault("Of")]);
    deepEqual(reports("docstring-subject", "/**\n * Of the run.\n */\nconst a = 1;\n"), [fault("Of")]);
  });

  test("a docstring that points at its neighbour is reported", () => {
    for (const text of ["/** The same. */", "/** The same for pods. */", "/** The same, in ms. */"]) {
      deepEqual(reports("docstring-subject", `${text}\nconst a = 1;\n`), [fault("The same")], text);
    }
  });

  test("a comment that is no docstring is not read", () => {
    deepEqual(reports("docstring-subject", "// Of all pods the first.\n/* The same. */\nconst a = 1;\n"), []);
  });
});

describe("one-idea", () => {
  test("a header, docstrings and comments beside code are accepted", () => {
    const text = [
      "// Counts pods.",
      "",
      'import { a } from "./a.js";',
      "",
      "// Stands directly above its code.",
      "export const b = a;",
      "",
      "export function c() {",
      "",
      "  // stands inside",
      "",
      "  return b;",
      "}",
      "",
    ];
    deepEqual(reports("one-idea", text.join("\n")), []);
  });

  test("a second header that stands by itself is reported", () => {
    const text = "// Counts pods.\n\nexport const a = 1;\n\n// Counts nodes.\n// By name.\n\nexport const b = 2;\n";
    deepEqual(reports("one-idea", text), [
      "5: a second header in this file: move what follows to a file of its own, or make it the docstring of the next symbol",
    ]);
  });

  test("a comment inside a statement is no header", () => {
    deepEqual(reports("one-idea", "const a = 1;\nconst b = [\n\n// rows of nodes\n\n  2,\n];\n"), []);
  });
});

describe("test-title", () => {
  const body = "() => undefined";

  test("a sentence is accepted, and so are titles that are made at run time", () => {
    for (const title of ['"a removed pod leaves nothing"', "name", "`row ${name}`"]) {
      deepEqual(reports("test-title", `test(${title}, ${body});\n`), [], title);
    }
  });

  test("a title of three words is reported for every way to write a test", () => {
    const fault = ["1: the title has 3 words: write a sentence with a subject"];
    for (const call of ["test", "it", "t.test", "test.skip", "it.only"]) {
      deepEqual(reports("test-title", `${call}("a removed pod", ${body});\n`), fault, call);
    }
    deepEqual(reports("test-title", `test(\`a removed pod\`, ${body});\n`), fault);
    deepEqual(reports("test-title", `test("a removed pod", { skip: true }, ${body});\n`), fault);
  });

  test("a call that makes no test is not read", () => {
    for (const text of ['regexp.test("x");', 'describe("pods", () => undefined);', 'test("x");']) {
      deepEqual(reports("test-title", `${text}\n`), [], text);
    }
  });
});
