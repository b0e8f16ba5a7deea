// Reading logs: any split into files and chunks, all options, against a model that has the whole log in memory.
// @promise Images and logs: Reading logs equals a model for random records, rotations and options; gigabytes and lines
//   of 64 MiB in constant memory.

import assert from "node:assert/strict";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { LogMissingError, LogOptionsError } from "../../../../../src/workers/server/logs/pods/errors.js";
import { closeLogFiles, logRun, openLogFiles } from "../../../../../src/workers/server/logs/pods/log-files.js";
import type { PodLogOptions } from "../../../../../src/workers/server/logs/pods/options.js";
import {
  readAll,
  reading,
  recordText,
  stampOf,
  writeLog,
  type TestFile,
  type TestRecord,
} from "../../../../support/log-kit.js";
import { temporaryFolder } from "../../../../support/sources-kit.js";

const GARBAGE = [
  "not a record\n",
  "2026-01-01T00:00:00Z stdin F x\n",
  "\n",
  "2026-01-01T00:00:00Z stdout F\u0001\n",
  "2026-02-30T00:00:00Z stdout F x\n",
  "2026-01-01T24:00:00Z stdout P x\n",
  "2026-01-01T00:00:00.5 stdout F x\n",
  `${"z".repeat(400)}\n`,
];

interface ModelLine {
  second: number;
  text: string;
  ended: boolean;
  parts: number;
}

/** The lines that records make: parts joined until one is full or the other stream breaks in. */
function modelLines(records: readonly TestRecord[]): ModelLine[] {
  const lines: ModelLine[] = [];
  let before: TestRecord | undefined;
  for (const record of records) {
    const last = lines.at(-1);
    if (last !== undefined && before?.tag === "P" && before.stream === record.stream) {
      last.text += record.text;
      last.parts++;
      last.ended = record.tag === "F";
    } else lines.push({ second: record.second, text: record.text, ended: record.tag === "F", parts: 1 });
    before = record;
  }
  return lines;
}

function model(records: readonly TestRecord[], options: PodLogOptions): string {
  const { stream = "All", tailLines, sinceTime, timestamps, limitBytes } = options;
  let wanted = records.filter((record) => stream === "All" || record.stream === stream.toLowerCase());
  if (tailLines !== undefined) {
    const parts = modelLines(wanted).map((line) => line.parts);
    wanted = wanted.slice(parts.slice(0, Math.max(0, parts.length - tailLines)).reduce((sum, n) => sum + n, 0));
  }
  // Parts have times of their own.
  if (sinceTime !== undefined) wanted = wanted.filter(({ second }) => second * 1000 >= Date.parse(sinceTime));
  const lines = modelLines(wanted);
  const texts = lines.map(({ second, text }) => (timestamps === true ? `${stampOf(second)} ${text}` : text));
  const open = lines.at(-1)?.ended === false;
  const output = texts.map((text) => `${text}\n`).join("");
  return (open ? output.slice(0, -1) : output).slice(0, limitBytes);
}

const textOf = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[ -~]{0,40}$/) },
  // Longer than the chunks that files are read in, so that heads and texts are cut anywhere.
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 300_000 }).map((length) => "m".repeat(length)) },
);
const record = fc.record({
  stream: fc.constantFrom("stdout" as const, "stderr" as const),
  tag: fc.constantFrom("F" as const, "F" as const, "P" as const),
  text: textOf,
});
const log = fc.record({
  records: fc.array(record, { minLength: 1, maxLength: 30 }),
  cuts: fc.array(fc.record({ at: fc.nat(30), compressed: fc.boolean() }), { maxLength: 4 }),
  garbage: fc.array(fc.record({ at: fc.nat(30), which: fc.nat(GARBAGE.length - 1) }), { maxLength: 3 }),
});
const choice = fc.record(
  {
    tailLines: fc.nat(35),
    sinceSecond: fc.nat(32),
    timestamps: fc.boolean(),
    limitBytes: fc.integer({ min: 1, max: 2000 }),
    stream: fc.constantFrom("All" as const, "Stdout" as const, "Stderr" as const),
  },
  { requiredKeys: [] },
);

test("reading equals the model for random logs, rotations and options", async (t) => {
  const folder = await temporaryFolder(t);
  let round = 0;
  await fc.assert(
    fc.asyncProperty(log, fc.array(choice, { minLength: 1, maxLength: 6 }), async (one, choices) => {
      const records = one.records.map((fields, index): TestRecord => ({ ...fields, second: 1_700_000_000 + index }));
      const podLogs = await writeLog(join(folder, String(round++)), filesOf(records, one));
      for (const { sinceSecond, ...rest } of choices) {
        const { tailLines, ...without } = rest;
        const options: PodLogOptions = {
          ...(rest.stream === "All" || rest.stream === undefined ? rest : without),
          ...(sinceSecond === undefined ? {} : { sinceTime: stampOf(1_700_000_000 + sinceSecond) }),
        };
        const expected = model(records, options);
        const got = await readAll(podLogs, options);
        assert.ok(
          got === expected,
          `${JSON.stringify(options)} (${String(tailLines)}): ${short(got)} instead of ${short(expected)}`,
        );
      }
    }),
    { numRuns: 100 },
  );
});

function short(text: string): string {
  return `${text.length} bytes ${JSON.stringify(text.slice(0, 300))}`;
}

function filesOf(
  records: readonly TestRecord[],
  { cuts, garbage }: { cuts: { at: number; compressed: boolean }[]; garbage: { at: number; which: number }[] },
): TestFile[] {
  const bounds = [...new Map(cuts.map((cut) => [Math.min(cut.at, records.length), cut])).entries()].sort(
    ([a], [b]) => a - b,
  );
  const text = (from: number, to: number): string =>
    records
      .slice(from, to)
      .map((one, index) => {
        // A file that begins with a line of no format is another test's.
        const dirt = garbage
          .filter(({ at }) => index > 0 && at === from + index)
          .map(({ which }) => GARBAGE[which] ?? "");
        return dirt.join("") + recordText(one);
      })
      .join("");
  const files: TestFile[] = [];
  let from = 0;
  bounds.forEach(([at, { compressed }], index) => {
    files.push({ stem: `20260101-0000${String(index).padStart(2, "0")}`, compressed, text: text(from, at) });
    from = at;
  });
  files.push({ text: text(from, records.length) });
  return files;
}

const line = (text: string, second = 1): string => recordText({ stream: "stdout", tag: "F", text, second });

test("files are listed oldest first after any rotations", async (t) => {
  const podLogs = await temporaryFolder(t);
  await writeLog(podLogs, [
    { text: line("now") },
    { stem: "20260102-000000", text: line("b") },
    { stem: "20260101-235959", compressed: true, text: line("a") },
    { stem: "20260102-000000", compressed: true, text: line("b") },
  ]);
  const other = join(podLogs, "app");
  for (const name of ["10.log", "0.log.bak", "0.log.20260103-000000.tmp"]) await writeFile(join(other, name), "x\n");
  const files = await openLogFiles(logRun(podLogs, "app", 0));
  await closeLogFiles(files);
  assert.deepEqual(
    files.map(({ name }) => name.name),
    ["0.log.20260101-235959.gz", "0.log.20260102-000000", "0.log"],
  );
  assert.equal(await readAll(podLogs), "a\nb\nnow\n");
  assert.deepEqual(await openLogFiles(logRun(podLogs, "nobody", 0)), []);
});

test("previous is the run before; a run that is not there is named", async (t) => {
  const podLogs = await temporaryFolder(t);
  await writeLog(podLogs, [{ text: line("first run") }]);
  assert.equal(await readAll(podLogs, { previous: true, restartCount: 1 }), "first run\n");
  await assert.rejects(readAll(podLogs, { previous: true, restartCount: 0 }), (error) => {
    assert.ok(error instanceof LogMissingError);
    assert.match(error.message, /previous terminated container "app" not found/);
    return true;
  });
  await assert.rejects(readAll(podLogs, { restartCount: 7 }), LogMissingError);
});

const REFUSED: [PodLogOptions, string][] = [
  [{ tailLines: -1 }, "tailLines"],
  [{ tailLines: 1.5 }, "tailLines"],
  [{ limitBytes: 0 }, "limitBytes"],
  [{ sinceSeconds: 0 }, "sinceSeconds"],
  [{ sinceSeconds: 1, sinceTime: "2026-01-01T00:00:00Z" }, "sinceTime"],
  [{ sinceTime: "yesterday" }, "sinceTime"],
  [{ stream: "Stdout", tailLines: 1 }, "tailLines"],
  [{ stream: "stdout" as "Stdout" }, "stream"],
];
for (const [options, field] of REFUSED) {
  test(`${JSON.stringify(options)} is refused for ${field}`, async (t) => {
    const podLogs = await writeLog(await temporaryFolder(t), [{ text: line("x") }]);
    await assert.rejects(
      readAll(podLogs, options),
      (error) => error instanceof LogOptionsError && error.field === field,
    );
  });
}

test("times with zones and fractions of any length are compared exactly and printed with nine digits", async (t) => {
  const text = [
    "2026-01-01T12:00:00.5+02:00 stdout F early",
    "2026-01-01T10:00:00.500000001Z stdout F late",
    "2026-01-01T10:00:01Z stdout F:tag tagged",
    "2026-01-01T10:00:02Z stderr F",
    "2026-01-03T9:00:00,7+23:60 stdout F odd",
    "",
  ].join("\n");
  const podLogs = await writeLog(await temporaryFolder(t), [{ text }]);
  assert.equal(
    await readAll(podLogs, { sinceTime: "2026-01-01T10:00:00.500000001Z", timestamps: true }),
    "2026-01-01T10:00:00.500000001Z late\n2026-01-01T10:00:01.000000000Z tagged\n2026-01-01T10:00:02.000000000Z \n2026-01-03T09:00:00.700000000+24:00 odd\n",
  );
  assert.match(await readAll(podLogs, { timestamps: true }), /^2026-01-01T12:00:00\.500000000\+02:00 early\n/);
});

test("a line cut off by a full disk ends where its file does", async (t) => {
  const podLogs = await writeLog(await temporaryFolder(t), [
    { stem: "20260101-000000", text: line("whole") + line("cut off").slice(0, -3) },
    { stem: "20260101-000001", text: line("next") + "2026-01-01T00:" },
    { text: line("last").slice(0, -1) },
  ]);
  assert.equal(await readAll(podLogs), "whole\ncut o\nnext\nlast");
  assert.equal(await readAll(podLogs, { tailLines: 3 }), "cut o\nnext\nlast");
});

test("a broken compressed file is read to its first error and reported, and the others are read", async (t) => {
  const podLogs = await temporaryFolder(t);
  await writeLog(podLogs, [{ stem: "20260101-000000", text: line("old") }, { text: line("new") }]);
  await writeFile(join(podLogs, "app", "0.log.20260102-000000.gz"), "no gzip at all");
  const problems: string[] = [];
  const onProblem = (file: string): number => problems.push(file);
  assert.equal(await readAll(podLogs, { onProblem }), "old\nnew\n");
  assert.deepEqual(problems, ["0.log.20260102-000000.gz"]);
  assert.equal(await readAll(podLogs, { tailLines: 2 }), "old\nnew\n");
});

test("rotation in the middle of reading does not change the output", async (t) => {
  const podLogs = await temporaryFolder(t);
  const many = (from: number): string => Array.from({ length: 50_000 }, (_, i) => line(String(from + i))).join("");
  await writeLog(podLogs, [{ stem: "20260101-000000", text: many(0) }, { text: many(50_000) }]);
  const folder = join(podLogs, "app");
  await mkdir(join(podLogs, "away"));
  let rotated = false;
  const blocks: Uint8Array[] = [];
  for await (const block of reading(podLogs)) {
    blocks.push(block);
    if (rotated) continue;
    rotated = true;
    await rename(join(folder, "0.log.20260101-000000"), join(podLogs, "away", "x"));
    await rename(join(folder, "0.log"), join(folder, "0.log.20260101-000001"));
    await writeFile(join(folder, "0.log"), line("after"));
  }
  const expected = Array.from({ length: 100_000 }, (_, i) => `${i}\n`).join("");
  assert.ok(Buffer.concat(blocks).toString() === expected);
});

test("an aborted reading rejects with the reason", async (t) => {
  const podLogs = await writeLog(await temporaryFolder(t), [{ text: line("x") }]);
  const reason = new Error("client left");
  await assert.rejects(readAll(podLogs, { signal: AbortSignal.abort(reason) }), reason);
});

test("a log is scanned in turns of 32 KiB, plain or compressed", async (t) => {
  const line = recordText({ second: 1, stream: "stdout", tag: "F", text: "x".repeat(80) });
  const text = line.repeat(Math.ceil(2 ** 20 / line.length));
  for (const compressed of [false, true]) {
    const files: TestFile[] = [{ text: compressed ? line : text }];
    const rotated = { stem: "20260101-000000", compressed: true, text };
    const logs = await writeLog(await temporaryFolder(t), compressed ? [rotated, ...files] : files);
    let [turns, most, before, seen] = [0, 0, 0, 0];
    const loop = {
      turn: () => {
        turns++;
        most = Math.max(most, seen - before);
        before = seen;
        return Promise.resolve();
      },
    };
    for await (const block of reading(logs, { loop })) seen += block.length;
    assert.ok(turns >= 2 ** 20 / (32 * 1024), `${turns} turns`);
    assert.ok(most <= 2 * 64 * 1024, `${most} bytes between two turns`);
  }
});

for (const [format, compressed, line] of [
  ["plain", false, recordText({ second: 1, stream: "stdout", tag: "F", text: "x".repeat(80) })],
  ["compressed", true, recordText({ second: 1, stream: "stdout", tag: "F", text: "x".repeat(80) })],
  ["Docker's", false, `{"log":"${"x".repeat(80)}\\n","stream":"stdout","time":"2026-01-01T00:00:00Z"}\n`],
] as const) {
  test(`the start of more lines than there are is searched for in turns of 64 KiB (${format})`, async (t) => {
    const text = line.repeat(Math.ceil(2 ** 20 / line.length));
    const files: TestFile[] = compressed ? [{ stem: "20260101-000000", compressed, text }, { text: line }] : [{ text }];
    const logs = await writeLog(await temporaryFolder(t), files);
    const turnsOf = async (options: PodLogOptions): Promise<number> => {
      let turns = 0;
      const loop = { turn: () => Promise.resolve(void turns++) };
      for await (const block of reading(logs, { ...options, loop })) assert.ok(block.length > 0);
      return turns;
    };
    const searched = (await turnsOf({ tailLines: 1_000_000 })) - (await turnsOf({}));
    assert.ok(searched >= 2 ** 20 / (64 * 1024), `${searched} turns`);
  });
}
