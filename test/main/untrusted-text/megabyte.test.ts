// Main reads untrusted texts. Each parser gets a megabyte of a possible worst case. Each regular expression in the
// code gets repetitions of its first text. Super-linear work takes seconds, linear work milliseconds.
// @headline Hostile tenants and clients | Main parses untrusted text in linear time. | 50 ms per MB
// @promise Hostile tenants and clients: Each of main's parsers of untrusted text takes less than 50 ms of CPU time per
//   megabyte of worst input (on a machine that scans 1 MiB in 2 ms); a new parser without a row in the table fails the
//   test.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import ts from "typescript";
import { assertCpuBelow } from "../../support/thread-cpu.js";
import { EXCEPTIONS, PARSERS, tried } from "./parsers.js";
import { sourceFiles, textFunctions } from "./text-functions.js";

/** Repeated to a megabyte: what makes parsers go back, search forward or copy. */
const PIECES: readonly string[] = [
  ...Array.from("a0.,:;/\\-_=+@*?$()[]{}<>'\"`#%&|~^ \t\n\r\0é"),
  ...[
    "$(",
    "$$(",
    "$(A)",
    "\n\n",
    " \n",
    "\r\n",
    "a=",
    "a='",
    "'\n",
    "a='b'\n",
    "a.",
    "a-",
    "a/",
    "a:",
    "0.",
    "1h",
    "1-2,",
  ],
  ...[
    "[a",
    '"a',
    "a,",
    "a b",
    "a\n",
    "__",
    "a__",
    "*a",
    "..",
    "../",
    "a@",
    "-secret",
    "name: a\n",
    "- a\n",
    "0.log\n",
    "A",
  ],
  ...[
    "search a\n",
    "nameserver a\n",
    "options a:1 ",
    "\\040",
    "1 2 3:4 / /a rw - a b c\n",
    "1 2 3:4 / /a rw - nfs b c\n",
  ],
  ...['{"a":', '{"auths":{', '"a":1,', "127.0.0.1 a\n", "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"],
  ...[
    "-----BEGIN CERTIFICATE-----a-----END CERTIFICATE-----",
    'name "',
    'name "a" is reserved for ',
    "sha256:",
    "\ud83d\ude00",
  ],
  ...["azure-storage-account-", "1 2 3:4 / /var/lib/kubelet/pods/a rw - a b c\n", "/var/lib/kubelet/pods", "\ud800"],
];
const SUFFIX = "!\u0001";
const PLAIN = ["", SUFFIX] as const;
/** All pieces come at the smaller size: quadratic work shows there. The slowest come again, many times longer. */
const [SMALL, LARGE] = [16 * 1024, 1024 * 1024];
const SLOWEST = 3;

const BOUND_MS = 50;
const assertQuick = (what: string, work: () => unknown, isOptimized = false): number =>
  assertCpuBelow(BOUND_MS, () => tried(work), what, isOptimized);

describe("a megabyte of text takes less than 50 ms of the calling thread's CPU time", () => {
  for (const [name, { parse, frames = [], isObject = false }] of Object.entries(PARSERS)) {
    test(name, () => {
      const check = (piece: string, [begin, end]: readonly [string, string], size: number): number => {
        const text = begin + piece.repeat(Math.floor(size / Buffer.byteLength(piece))) + end;
        return Math.max(
          ...parse.map((one) =>
            assertQuick(
              `${String(one)}: ${JSON.stringify([begin, piece, end])}, ${size} bytes`,
              () => one(text),
              isObject && size === LARGE,
            ),
          ),
        );
      };
      const texts = PIECES.flatMap((piece) => [PLAIN, ...frames].map((frame) => ({ piece, frame })));
      const costs = texts.map(({ piece, frame }) => ({ piece, frame, ms: check(piece, frame, SMALL) }));
      for (const { piece, frame } of costs.sort((a, b) => b.ms - a.ms).slice(0, SLOWEST)) check(piece, frame, LARGE);
    });
  }
});

describe("the table", () => {
  const listed = [...Object.values(PARSERS).flatMap(({ functions }) => functions), ...Object.values(EXCEPTIONS).flat()];

  test("names every exported function that reads a text, or the reason why it is left out", () => {
    const missing = textFunctions(sourceFiles()).filter((name) => !listed.includes(name));
    assert.deepEqual(missing, [], "add a row to PARSERS, or a reason to EXCEPTIONS, in parsers.ts");
  });

  test("names no removed function, and none twice", () => {
    const found = textFunctions(sourceFiles());
    assert.deepEqual(
      listed.filter((name) => !found.includes(name)),
      [],
    );
    assert.deepEqual(
      listed.filter((name, index) => listed.indexOf(name) !== index),
      [],
    );
  });

  test("the search finds parsers that are functions, constants, methods or begin in an inner function", () => {
    const source = `
      export function direct(text: string) { return text.split(","); }
      export function indirect(text: string) { return inner(text); }
      function inner(text: string) { return JSON.parse(text); }
      export class Reader { read(text: string) { return this.part(text); } private part(text: string) { return /a/.exec(text); } }
      export function other(count: number) { return count; }
      export const short = (text: string) => text.split(",");
      const lines = oncePer((text: string) => text.split("\\n"));
      export function memo(text: string) { return lines(text); }
    `;
    const file = ts.createSourceFile("src/main/containers/images/x.ts", source, ts.ScriptTarget.Latest, true);
    assert.deepEqual(textFunctions([file]), ["x: Reader.read", "x: direct", "x: indirect", "x: memo", "x: short"]);
  });
});

interface Expression {
  where: string;
  regexp: RegExp;
}

/** Returns the regular expressions of main and of shared code. */
function expressions(): Expression[] {
  const found: Expression[] = [];
  for (const file of sourceFiles()) {
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf("/");
        const regexp = new RegExp(node.text.slice(1, end), node.text.slice(end + 1));
        found.push({ where: `${file.fileName}: ${node.text}`, regexp });
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return found;
}

/** The plain characters that each alternative begins with. */
function beginnings({ source }: RegExp): string[] {
  return source.split("|").map((part) => {
    const plain = /^(?:\^|\(\?:|\()*((?:[\w "'<>/:;,=@#%&~`!-]|\\[^a-zA-Z0-9])*)/.exec(part)?.[1] ?? "";
    return plain.replaceAll("\\", "");
  });
}

describe("regular expressions", () => {
  test("take linear time over the text that they begin with", () => {
    const all = expressions();
    assert.ok(all.length > 100, `${all.length} expressions found`);
    for (const { where, regexp } of all) {
      const every = new RegExp(regexp.source, [...new Set(`${regexp.flags.replace("y", "")}g`)].join(""));
      for (const piece of new Set(beginnings(regexp))) {
        if (piece === "") continue;
        const text = piece.repeat(Math.ceil((128 * 1024) / piece.length)) + SUFFIX;
        assertQuick(`${where} over ${JSON.stringify(piece)}`, () => text.replace(every, ""));
      }
    }
  });

  test("that look for their end from each of their beginnings are found", () => {
    const slow = /\$\(([^)]*)\)/g;
    assert.deepEqual(beginnings(slow), ["$("]);
    const text = "$(".repeat(32 * 1024);
    assert.throws(() => assertQuick("", () => text.replace(slow, "")), assert.AssertionError);
  });
});
