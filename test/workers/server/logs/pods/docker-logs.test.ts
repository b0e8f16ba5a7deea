// Logs of the Docker Engine (cri-dockerd): a link to lines of JSON, read with every option as a log in CRI's format is.

import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { appendFile, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { NotRegularFileError } from "../../../../../src/shared/io/fs/untrusted-file.js";
import { NotFolderError } from "../../../../../src/shared/io/fs/untrusted-folder.js";
import { LONGEST_JSON_LINE, parseJsonRecord } from "../../../../../src/shared/node/container-logs/json-record.js";
import { LogMissingError, LogFormatError } from "../../../../../src/workers/server/logs/pods/errors.js";
import type { PodLogOptions } from "../../../../../src/workers/server/logs/pods/options.js";
import {
  DOCKER_ID,
  dockerText,
  readAll,
  reading,
  recordText,
  stampOf,
  writeDockerLog,
  writeLog,
  type TestRecord,
} from "../../../../support/log-kit.js";
import { temporaryFolder } from "../../../../support/sources-kit.js";

const containerIds = [DOCKER_ID];
const at = (second: number): number => 1_700_000_000 + second;

const recordsOf = fc.array(
  fc.record({
    stream: fc.constantFrom("stdout" as const, "stderr" as const),
    tag: fc.constantFrom("F" as const, "F" as const, "P" as const),
    text: fc.oneof(
      { weight: 6, arbitrary: fc.string({ minLength: 1, maxLength: 40, unit: "grapheme" }) },
      // Longer than the parts in which files are read.
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 300_000 }).map((length) => '\\"'.repeat(length / 2) + "m") },
    ),
  }),
  { minLength: 1, maxLength: 30 },
);
const choiceOf = fc.record(
  {
    tailLines: fc.nat(35),
    sinceSecond: fc.nat(32),
    timestamps: fc.boolean(),
    limitBytes: fc.integer({ min: 1, max: 2000 }),
    stream: fc.constantFrom("All" as const, "Stdout" as const, "Stderr" as const),
  },
  { requiredKeys: [] },
);

test("a log in Docker's format is shown as the same log in CRI's format, for random records and options", async (t) => {
  const folder = await temporaryFolder(t);
  let round = 0;
  await fc.assert(
    fc.asyncProperty(recordsOf, fc.array(choiceOf, { minLength: 1, maxLength: 6 }), async (fields, choices) => {
      const records = fields.map((one, index): TestRecord => ({
        ...one,
        text: one.text.replaceAll("\n", " "),
        second: at(index),
      }));
      const own = join(folder, String(round++));
      const { podLogs } = await writeDockerLog(own, records.map(dockerText).join(""));
      const cri = await writeLog(join(own, "cri"), [{ text: records.map(recordText).join("") }]);
      for (const { sinceSecond, tailLines, ...rest } of choices) {
        const isOne = rest.stream === "Stdout" || rest.stream === "Stderr";
        const options: PodLogOptions = {
          ...rest,
          ...(isOne || tailLines === undefined ? {} : { tailLines }),
          ...(sinceSecond === undefined ? {} : { sinceTime: stampOf(at(sinceSecond)) }),
        };
        const [docker, expected] = [await readAll(podLogs, { ...options, containerIds }), await readAll(cri, options)];
        ok(
          docker === expected,
          `${JSON.stringify(options)}: ${docker.slice(0, 300)} instead of ${expected.slice(0, 300)}`,
        );
      }
    }),
    { numRuns: 60 },
  );
});

const LINE = dockerText({ stream: "stdout", tag: "F", text: "kept", second: at(0) });
const UNSUPPORTED = "failed to get parse function: unsupported log format: ";

/** What the output is, or how the reading ends: upstream's texts. */
const CONTENTS: [what: string, text: string, output: string, error?: string][] = [
  [
    "names in any case, unknown fields and null",
    `{"LOG":"a\\n","Stream":"stdout","attrs":{"x":1},"time":null}\n`,
    "a\n",
  ],
  ["text around a whole line", `  {"log":"a\\n","stream":"stdout","time":"2026-01-01T00:00:00Z"}  \r\n`, "a\n"],
  [
    "escapes, half a character, and bytes that are no UTF-8",
    '{"log":"\\u00e9\\ud83d\\ud83d\\ude00\\u0000\\n","stream":"stdout"}\n',
    "é\ufffd😀\0\n",
  ],
  ["an empty text", `{"log":"","stream":"stdout"}\n${LINE}`, "kept\n"],
  ["several lines in one record", `{"log":"a\\nb\\n","stream":"stderr","time":"2026-01-01T00:00:00Z"}\n`, "a\nb\n"],
  ["a last line without a newline", LINE + LINE.trimEnd(), "kept\nkept\n"],
  ["a last line that is cut off", LINE + LINE.slice(0, 20), "kept\n"],
  [
    "foreign lines after the first",
    `${LINE}no JSON\n{"log":5,"stream":"stdout"}\n[]\n{"log":"x","time":"no"}\n${LINE}`,
    "kept\nkept\n",
  ],
  [
    "a line of CRI's format after the first",
    LINE + recordText({ stream: "stdout", tag: "F", text: "x", second: 1 }),
    "kept\n",
  ],
  [
    "a line of Docker's format in a log of CRI's",
    recordText({ stream: "stdout", tag: "F", text: "x", second: 1 }) + LINE,
    "x\n",
  ],
  [
    "a line beyond the limit",
    LINE + JSON.stringify({ log: "x".repeat(LONGEST_JSON_LINE), stream: "stdout" }) + "\n" + LINE,
    "kept\nkept\n",
  ],
  ["nothing", "", ""],
  ["a foreign first line", "hello\n" + LINE, "", `${UNSUPPORTED}"hello\\n"`],
  ["an empty first line", "\n" + LINE, "", `${UNSUPPORTED}"\\n"`],
  ["a foreign first line without a newline", 'say "hi"\x07\xff', "", `${UNSUPPORTED}"say \\"hi\\"\\a\u00ff"`],
  ["a first line that is cut off", LINE.slice(0, 20), "", `${UNSUPPORTED}${JSON.stringify(LINE.slice(0, 20))}`],
  [
    "a time that is none in the first line",
    '{"log":"a","time":"yesterday"}\n',
    "",
    `${UNSUPPORTED}"{\\"log\\":\\"a\\",\\"time\\":\\"yesterday\\"}\\n"`,
  ],
  ["a number for a text in the first line", '{"log":1}\n', "", `${UNSUPPORTED}"{\\"log\\":1}\\n"`],
  [
    "a CRI line with an impossible time",
    "2026-13-01T00:00:00Z stdout F x\n",
    "",
    `${UNSUPPORTED}"2026-13-01T00:00:00Z stdout F x\\n"`,
  ],
  [
    "a CRI line of another stream",
    "2026-01-01T00:00:00Z stdin F x\n",
    "",
    `${UNSUPPORTED}"2026-01-01T00:00:00Z stdin F x\\n"`,
  ],
  ["null as the first line", "null\n", "", 'unexpected stream type ""'],
  ["an unknown stream", `${LINE}{"log":"x","stream":"stdin"}\n${LINE}`, "kept\n", 'unexpected stream type "stdin"'],
];
for (const [what, text, output, error] of CONTENTS) {
  test(`the log's content is ${what}`, async (t) => {
    const { podLogs } = await writeDockerLog(await temporaryFolder(t), text);
    const blocks: Uint8Array[] = [];
    let message: string | undefined;
    try {
      for await (const block of reading(podLogs, { containerIds })) blocks.push(block);
    } catch (thrown) {
      message = thrown instanceof Error ? thrown.message : String(thrown);
    }
    equal(Buffer.concat(blocks).toString(), output);
    equal(message, error);
  });
}

test("bytes that are no UTF-8 become one U+FFFD each, as Go decodes them", async (t) => {
  const folder = await temporaryFolder(t);
  const { podLogs, file } = await writeDockerLog(folder, "");
  await writeFile(file, Buffer.from('{"log":"\xe2\x82x\\n","stream":"stdout"}\n', "latin1"));
  equal(await readAll(podLogs, { containerIds }), "\ufffd\ufffdx\n");
});

test("an unknown stream from before `since` ends nothing, and an offset of zero is shown as Z", async (t) => {
  const lines = [
    '{"log":"old","stream":"stdin","time":"2026-01-01T00:00:00Z"}',
    '{"log":"new\\n","stream":"stdout","time":"2026-01-01T00:00:05.5+00:00"}',
    '{"log":"east\\n","stream":"stdout","time":"2026-01-01T02:00:06+02:00"}',
  ];
  const { podLogs } = await writeDockerLog(await temporaryFolder(t), `${lines.join("\n")}\n`);
  const options = { containerIds, timestamps: true, sinceTime: "2026-01-01T00:00:04Z" };
  equal(
    await readAll(podLogs, options),
    "2026-01-01T00:00:05.500000000Z new\n2026-01-01T02:00:06.000000000+02:00 east\n",
  );
  equal(await readAll(podLogs, { ...options, limitBytes: 36, tailLines: 1 }), "2026-01-01T02:00:06.000000000+02:00 ");
});

test("a log without a link may be in Docker's format too, and each file of a log in its own", async (t) => {
  const json = (text: string, second: number): string => dockerText({ stream: "stdout", tag: "F", text, second });
  const cri = (text: string, second: number): string => recordText({ stream: "stdout", tag: "F", text, second });
  const podLogs = await writeLog(await temporaryFolder(t), [
    { stem: "20260101-000000", compressed: true, text: json("a", 1) + json("b", 2) },
    { stem: "20260101-000001", text: cri("c", 3) },
    { stem: "20260101-000002", text: `cut off\n${cri("d", 4)}` },
    { text: json("e", 5) + json("f", 6) },
  ]);
  equal(await readAll(podLogs), "a\nb\nc\nd\ne\nf\n");
  for (const tailLines of [1, 2, 3, 4, 5, 6, 9]) {
    equal(await readAll(podLogs, { tailLines }), "a\nb\nc\nd\ne\nf\n".slice(-2 * tailLines), String(tailLines));
  }
});

test("a follower of a log in Docker's format gets lines as they come, across the Engine's rotation", async (t) => {
  const folder = await temporaryFolder(t);
  const json = (text: string): string => dockerText({ stream: "stdout", tag: "F", text, second: at(0) });
  const { podLogs, file } = await writeDockerLog(folder, json("before") + json("half").slice(0, 10));
  let running = true;
  const follower = reading(podLogs, { containerIds, follow: true, tailLines: 1, isRunning: () => running });
  let seen = "";
  const until = async (text: string): Promise<void> => {
    while (!seen.endsWith(text)) {
      const next = await follower.next();
      if (next.done === true) return;
      seen += Buffer.from(next.value).toString();
    }
  };
  await until("before\n");
  await appendFile(file, json("half").slice(10));
  await until("half\n");
  await appendFile(file, json("one"));
  await until("one\n");
  await rename(file, `${file}.1`);
  await appendFile(`${file}.1`, json("late"));
  await writeFile(file, json("two"));
  await until("two\n");
  running = false;
  await until("never");
  equal(seen, "before\nhalf\none\nlate\ntwo\n");
});

test("a follower from the end begins with the line that is being written", async (t) => {
  const folder = await temporaryFolder(t);
  const { podLogs, file } = await writeDockerLog(folder, LINE + LINE.slice(0, 10));
  let text = "";
  for await (const block of reading(podLogs, {
    containerIds,
    follow: true,
    tailLines: 0,
    isRunning: async () => {
      // Asked when the follower has read the file to its end.
      if (text === "") await writeFile(file, LINE + LINE + LINE);
      return false;
    },
  })) {
    text += Buffer.from(block).toString();
  }
  equal(text, "kept\nkept\n");
});

/** What a pod that can write to log folders may plant. */
const PLANTED: [what: string, plant: (folder: string, log: string) => Promise<void>][] = [
  ["a link to a file of the node", (folder, log) => symlink(join(folder, "secret"), log)],
  [
    "a link to another container's log",
    async (folder, log) => {
      const other = "07e".padEnd(64, "7");
      const { file } = await writeDockerLog(join(folder, "other"), LINE, other);
      await symlink(file, log);
    },
  ],
  [
    "a link to a link with the name of the own log",
    async (folder, log) => {
      const fake = join(folder, "fake", DOCKER_ID, `${DOCKER_ID}-json.log`);
      await mkdir(dirname(fake), { recursive: true });
      await symlink(join(folder, "secret"), fake);
      await symlink(fake, log);
    },
  ],
  [
    "a link to the own name in a folder that is a link",
    async (folder, log) => {
      await mkdir(join(folder, "real"));
      await writeFile(join(folder, "real", `${DOCKER_ID}-json.log`), LINE);
      await mkdir(join(folder, "fake"));
      await symlink(join(folder, "real"), join(folder, "fake", DOCKER_ID));
      await symlink(join(folder, "fake", DOCKER_ID, `${DOCKER_ID}-json.log`), log);
    },
  ],
  [
    "a link to the own name in a folder of another name",
    async (folder, log) => {
      await mkdir(join(folder, "fake"));
      await writeFile(join(folder, "fake", `${DOCKER_ID}-json.log`), LINE);
      await symlink(join(folder, "fake", `${DOCKER_ID}-json.log`), log);
    },
  ],
];
for (const [what, plant] of PLANTED) {
  test(`${what} is not followed`, async (t) => {
    const folder = await temporaryFolder(t);
    await writeFile(join(folder, "secret"), LINE);
    const { podLogs } = await writeDockerLog(folder, LINE);
    const log = join(podLogs, "app", "0.log");
    equal(await readAll(podLogs, { containerIds }), "kept\n");
    await rm(log);
    await plant(folder, log);
    await rejects(readAll(podLogs, { containerIds }), (error) => {
      ok(error instanceof NotRegularFileError || error instanceof NotFolderError, String(error));
      return true;
    });
  });
}

test("a link to the own log is followed for the ids of the container only, by relative paths too", async (t) => {
  const folder = await temporaryFolder(t);
  const { podLogs, file } = await writeDockerLog(folder, LINE);
  await rejects(readAll(podLogs), NotRegularFileError);
  await rejects(readAll(podLogs, { containerIds: ["0".repeat(64)] }), NotRegularFileError);
  equal(await readAll(podLogs, { containerIds: ["0".repeat(64), DOCKER_ID] }), "kept\n");
  const log = join(podLogs, "app", "0.log");
  await rm(log);
  await symlink(join("../../../docker/containers", DOCKER_ID, `${DOCKER_ID}-json.log`), log);
  equal(await readAll(podLogs, { containerIds }), "kept\n");
  // Docker's data directory may be a link of the operator.
  await rename(join(folder, "docker"), join(folder, "moved"));
  await symlink(join(folder, "moved"), join(folder, "docker"));
  equal(await readAll(podLogs, { containerIds }), "kept\n");
  await rm(file);
  await rejects(readAll(podLogs, { containerIds }), LogMissingError);
});

test("a record of Docker is what Go's decoder makes of the line", () => {
  const zero = { text: "", stream: "", time: "0001-01-01T00:00:00Z" };
  const rows: [line: string, record: object | undefined][] = [
    ["{}", zero],
    ["null", zero],
    ['{"log":null,"stream":null,"time":null}', zero],
    ['{"log":"a","log":"b"}', { ...zero, text: "b" }],
    ['{"Log":"a"}', { ...zero, text: "a" }],
    ['{"time":"2026-01-01T00:00:00.123456789+01:00"}', { ...zero, time: "2026-01-01T00:00:00.123456789+01:00" }],
    ['{"__proto__":{"log":"x"}}', zero],
    ["[1]", undefined],
    ["5", undefined],
    ["", undefined],
    ["{", undefined],
    ['{"log":"a"} x', undefined],
    ['{"log":["a"]}', undefined],
    ['{"stream":true}', undefined],
    ['{"time":""}', undefined],
    ['{"time":"2026-01-01"}', undefined],
    ['{"time":"2026-02-01 00:00:00Z"}', undefined],
  ];
  for (const [line, record] of rows) deepEqual(parseJsonRecord(line), record, line);
  ok(new LogFormatError(Buffer.alloc(100_000, "x")).message.length < 20_000);
});
