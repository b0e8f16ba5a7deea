// Lines in klog's shape: what people's eyes and log collectors' parsers were trained on.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { quote } from "../../../../src/shared/base/text/quote.js";
import { textLine, withPriority } from "../../../../src/shared/telemetry/log/text-line.js";
import { assertCpuBelow } from "../../../support/thread-cpu.js";

const AT = new Date(2026, 10, 21, 9, 46, 13).getTime() + 123.456;
const PID = String(process.pid).padStart(7);

function line(fields: Record<string, unknown> = {}, message = "Message", level = 30): string {
  return textLine({ level, at: AT, caller: "sync-loop", message, fields, stack: "" });
}

/** The text after the message. */
function values(fields: Record<string, unknown>): string {
  const text = line(fields);
  const head = `I1121 09:46:13.123456 ${PID} sync-loop] "Message"`;
  assert.ok(text.startsWith(head), text);
  assert.ok(text.endsWith("\n"), text);
  return text.slice(head.length, -1);
}

describe("text line", () => {
  for (const [level, letter] of [
    [10, "I"],
    [20, "I"],
    [30, "I"],
    [40, "W"],
    [50, "E"],
    [60, "F"],
  ] as const) {
    test(`level ${level} is ${letter}`, () => assert.equal(line({}, "x", level)[0], letter));
  }

  test("a long value that the message has is not repeated; a short one and one of another type are", () => {
    const uid = "d824c142-48ee-44f1-9470-2aeca633290a";
    const pod = `web_default(${uid})`;
    const fields = { pod, uid, to: "running", other: `${uid}0`, n: 1234567890123456 };
    const text = line(fields, `${pod}: running 1234567890123456`);
    assert.equal(
      text.split("] ")[1],
      `"${pod}: running 1234567890123456" to="running" other="${uid}0" n=1234567890123456\n`,
    );
  });

  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  const table: [what: string, fields: Record<string, unknown>, text: string][] = [
    ["nothing", {}, ""],
    ["a string", { pod: "ns/name" }, ` pod="ns/name"`],
    ["an empty string", { s: "" }, ` s=""`],
    [
      "numbers",
      { i: 3, f: 0.5, big: 12345678901234567890n, nan: NaN },
      ` i=3 f=0.5 big=12345678901234567890 nan="NaN"`,
    ],
    ["booleans and null", { yes: true, no: false, none: null }, " yes=true no=false none=null"],
    ["undefined is left out", { a: undefined, b: 1 }, " b=1"],
    ["objects as JSON", { o: { a: [1, "x"], n: null, big: 5n } }, ` o={"a":[1,"x"],"n":null,"big":5}`],
    ["maps and sets", { m: new Map([["k", 1]]), s: new Set([1]) }, ` m={"k":1} s=[1]`],
    ["errors within objects", { list: [new Error("inner")] }, ` list=["inner"]`],
    ["quotes and backslashes", { s: 'a "b" \\' }, ` s="a \\"b\\" \\\\"`],
    ["several lines", { s: "one\ntwo" }, " s=<\n\tone\n\ttwo\n >"],
    ["several lines with an end", { s: "one\ntwo\n" }, " s=<\n\tone\n\ttwo\n >"],
    ["a line feed alone", { s: "\n" }, " s=<\n\t\n >"],
    ["err comes first", { a: 1, err: new Error("boom") }, ` err="boom" a=1`],
    ["an error and its cause", { err: new Error("boom", { cause: new Error("deep") }) }, ` err="boom: deep"`],
    ["a cause already told", { err: new Error("it: deep", { cause: new Error("deep") }) }, ` err="it: deep"`],
    ["an error without a message", { err: new TypeError() }, ` err="TypeError"`],
    ["many errors", { err: new AggregateError([new Error("a"), new Error("b")], "both") }, ` err="both: a; b"`],
  ];
  for (const [what, fields, text] of table) test(what, () => assert.equal(values(fields), text));

  test("a circle is named, not thrown", () => assert.match(values({ circle }), /^ circle="<not shown: .*circular/i));

  test("the message is always one quoted line", () => {
    assert.match(line({}, 'two\nlines "x"'), /\] "two\\nlines \\"x\\""\n$/);
  });

  test("the stack comes last", () => {
    const text = textLine({ level: 50, at: AT, caller: "m", message: "x", fields: { a: 1 }, stack: "Error\n at y" });
    assert.ok(text.endsWith(` a=1 stack=<\n\tError\n\t at y\n >\n`), text);
  });

  test("syslog priorities stand before every line", () => {
    assert.equal(withPriority("a\n b\n", 50, 0), "<3>a\n<3> b\n");
    assert.deepEqual(
      [
        [60, 0],
        [40, 0],
        [30, 0],
        [20, 4],
      ].map(([level = 0, verbosity = 0]) => withPriority("x\n", level, verbosity)),
      ["<2>x\n", "<4>x\n", "<6>x\n", "<7>x\n"],
    );
  });

  test("any fields give complete lines that begin with the header or are indented", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.anything()), fc.string(), (fields, message) => {
        const text = line(fields, message);
        assert.ok(text.endsWith("\n"));
        for (const one of text.slice(0, -1).split("\n").slice(1)) assert.match(one, /^(\t| >)/);
      }),
    );
  });
});

describe("Go's quoting", () => {
  // Right-hand sides are what strconv.Quote prints.
  const table: [text: string, quoted: string][] = [
    ["plain", '"plain"'],
    ["\u0007\b\f\n\r\t\v", '"\\a\\b\\f\\n\\r\\t\\v"'],
    ["\u0000\u001b\u007f", '"\\x00\\x1b\\x7f"'],
    ["é ☺ 日本 😀", '"é ☺ 日本 😀"'],
    ["\u00a0\u00ad\u200b\u2028\ufeff", '"\\u00a0\\u00ad\\u200b\\u2028\\ufeff"'],
    ["\u{e0001}", '"\\U000e0001"'],
    ["\ud800", '"\\ufffd"'],
  ];
  for (const [text, quoted] of table) test(quoted, () => assert.equal(quote(text), quoted));

  test("a long text has the same escapes as its characters have one by one", () => {
    for (const [text] of table) assert.equal(quote(text.repeat(1_000)), `"${quote(text).slice(1, -1).repeat(1_000)}"`);
    const ascii = String.fromCharCode(...Array.from({ length: 128 }, (_, code) => code)).repeat(10);
    assert.equal(quote(ascii), `"${Array.from(ascii, (one) => quote(one).slice(1, -1)).join("")}"`);
  });

  test("a megabyte of characters to escape takes less than 50 ms of the thread's time", () => {
    const text = '\\"\n'.repeat(350_000);
    assertCpuBelow(50, () => quote(text));
  });

  test("a text that JSON can read means the same text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-ascii" }), (text) => {
        const readable = quote(text).replace(/\\(\\|x)/g, (whole, what) => (what === "x" ? "\\u00" : whole));
        assert.equal(JSON.parse(readable), text);
      }),
    );
  });
});
