// Words of kubectl users, as the parser of the program gets them; durations and queries of logs; refusals as text.

import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import { isBeforeCommand, preparedWords } from "../../src/cli/command-line.js";
import { logQuery, type LogOptions } from "../../src/cli/commands/logs.js";
import { goDurationMs } from "../../src/cli/output/go-duration.js";
import { programOf } from "../../src/cli/program.js";
import { refusalText } from "../../src/cli/refusal-text.js";

const program = programOf(() => undefined);
const WORDS: readonly (readonly [typed: string, prepared: string])[] = [
  ["exec web ls -la /", "exec web -- ls -la /"],
  ["exec web -- ls -la", "exec web -- ls -la"],
  ["exec -it web sh", "exec -it web -- sh"],
  ["exec web -it sh -c x", "exec web -it -- sh -c x"],
  ["exec web -c app -it -- sh", "exec web -c app -it -- sh"],
  ["exec web -capp ls", "exec web -capp -- ls"],
  ["exec -itc app web ls -- -x", "exec -itc app web -- ls -- -x"],
  ["exec -n shop web --stdin=true cat", "exec -n shop web --stdin -- cat"],
  ["exec web echo --tty=false", "exec web -- echo --tty=false"],
  ["exec web", "exec web"],
  ["exec", "exec"],
  ["--root-dir /r exec web ls -l", "--root-dir /r exec web -- ls -l"],
  ["-o json exec web ls -o x", "-o json exec web -- ls -o x"],
  ["-n shop pods", "pods -n shop"],
  ["--namespace=shop --socket /s logs web -f", "--socket /s logs --namespace=shop web -f"],
  ["-nshop exec web ls -n", "exec -nshop web -- ls -n"],
  ["delete web --wait=false", "delete web --no-wait"],
  ["delete web --wait=true --now=false", "delete web --wait"],
  ["logs web --follow=true --previous=false", "logs web --follow"],
  ["logs web --tail=5", "logs web --tail=5"],
  ["stats --containers=true", "stats --containers"],
  ["nosuch --wait=false", "nosuch --wait=false"],
  ["--help", "--help"],
];
for (const [typed, prepared] of WORDS) {
  test(`nodelet ${typed} is read as nodelet ${prepared}`, () => {
    equal(preparedWords(program, typed.split(" ")).join(" "), prepared);
  });
}

test("--version counts before the command only", () => {
  const counts = (typed: string): boolean => isBeforeCommand(program, typed.split(" "), "--version");
  deepEqual(["--version", "--socket /s --version", "exec web prog --version"].map(counts), [true, true, false]);
});

describe("durations", () => {
  const DURATIONS: readonly (readonly [text: string, ms: number])[] = [
    ["5m", 300_000],
    ["1h30m", 5_400_000],
    ["1.5h", 5_400_000],
    ["300ms", 300],
    ["90", 90_000],
    ["0", 0],
  ];
  for (const [text, ms] of DURATIONS) test(`${text} is ${ms} ms`, () => equal(goDurationMs("--since", text), ms));
  for (const text of ["", "5", "-5m", "5 m", "m5", "5x", "1e3s", "9".repeat(60)].filter((one) => one !== "5")) {
    test(`${JSON.stringify(text.slice(0, 12))} is refused with an example`, () => {
      throws(() => goDurationMs("--since", text), /--since .* is no duration/);
    });
  }
});

describe("the query of logs", () => {
  const QUERIES: readonly (readonly [options: LogOptions, query: string])[] = [
    [{}, ""],
    [{ since: "5m", tail: "3", follow: true }, "follow=true&tailLines=3&sinceSeconds=300"],
    [{ since: "1500ms" }, "sinceSeconds=2"],
    [{ since: "0s", tail: "-1" }, ""],
    [{ tail: "0" }, "tailLines=0"],
    [{ sinceTime: "2026-01-02T15:04:05+02:00" }, "sinceTime=2026-01-02T15%3A04%3A05%2B02%3A00"],
    [{ sinceTime: "2026-01-02T5:04:05,5Z" }, "sinceTime=2026-01-02T5%3A04%3A05%2C5Z"],
  ];
  for (const [options, query] of QUERIES) {
    test(`${JSON.stringify(options)} is ${query}`, () => equal(logQuery(options).toString(), query));
  }
  const REFUSED: readonly (readonly [options: LogOptions, message: RegExp])[] = [
    [{ since: "soon" }, /--since "soon" is no duration/],
    [{ sinceTime: "2026-02-30T00:00:00Z" }, /--since-time "2026-02-30T00:00:00Z" is no time/],
    [{ sinceTime: "2026-01-01T24:00:00Z" }, /--since-time "2026-01-01T24:00:00Z" is no time/],
    [{ sinceTime: "yesterday" }, /--since-time "yesterday" is no time/],
    [{ since: "1s", sinceTime: "2026-01-02T15:04:05Z" }, /exclude each other/],
    [{ tail: "all" }, /--tail "all" is no whole number/],
  ];
  for (const [options, message] of REFUSED) {
    test(`${JSON.stringify(options)} is refused before the kubelet is asked`, () =>
      throws(() => logQuery(options), message));
  }
});

test("a refusal is shown as text, whatever form the kubelet gives it", () => {
  equal(refusalText('{"message": "Unable to decode query."}'), "Unable to decode query.");
  equal(
    refusalText('{"kind":"Status","message":"manifest a/b does not exist","reason":"NotFound"}\n'),
    "manifest a/b does not exist",
  );
  equal(refusalText("plain text\n"), "plain text");
  equal(refusalText("{broken"), "{broken");
  equal(refusalText('{"a":1}'), "the kubelet refused the request without a reason");
  equal(refusalText(""), "");
});
