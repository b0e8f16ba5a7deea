// Runs one test file with Node's test runner, in a process of its own, and counts.
// Invariant: a file without a test is a failure; so is one that was not built.

import { once } from "node:events";
import { existsSync } from "node:fs";
import { Writable } from "node:stream";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { inspect } from "node:util";
import { brokenFile, type FileResult } from "./file-result.js";

/** Characters of one failure that the closing lines show. */
const FAILURE_CHARACTERS = 3000;
/** Milliseconds that the runner has to report what an abort ended. */
const AFTER_ABORT_MS = 10_000;
/**
 * Part of the file's time that one test without a limit of its own may take: the report names a hanging test before the
 * file is ended.
 */
const SHARE_OF_ONE_TEST = 0.9;
/** Characters of a file's output that are kept; the beginning goes first. */
const OUTPUT_CHARACTERS = 2_000_000;

/** Never rejects for a failing test. `print` gets the output as it comes. */
export async function runFile(
  file: string,
  { timeoutMs, signal, print }: { timeoutMs: number; signal: AbortSignal; print: (text: string) => void },
): Promise<FileResult> {
  if (!existsSync(file)) return brokenFile(`✖ not built: ${file}`);
  const result: FileResult = { passed: 0, failed: 0, skipped: 0, seconds: 0, failures: [], output: "" };
  const began = performance.now();
  const stop = new AbortController();
  const onAbort = (): void => stop.abort();
  signal.addEventListener("abort", onAbort);
  // Node 20 has no such argument and names the file alone.
  const limit = { execArgv: [`--test-timeout=${Math.round(timeoutMs * SHARE_OF_ONE_TEST)}`] };
  const stream = run({ files: [file], concurrency: 1, signal: stop.signal, ...limit });
  stream.on("test:pass", ({ name, skip, todo, details }) => {
    // The runner reports a file that holds no test as a test of the file's name.
    if (file.endsWith(name)) return;
    // The tests of a skipped suite are not reported.
    if (isSet(skip) || isSet(todo)) result.skipped++;
    else if (details.type !== "suite") result.passed++;
  });
  stream.on("test:fail", ({ name, details, todo }) => {
    if (isSet(todo)) result.skipped++;
    // A suite fails with its tests, which are counted; one that fails by itself (a hook) counts too.
    else if (details.type !== "suite" || !/subtests? failed/.test(details.error.message)) {
      result.failed++;
      const error = inspect(details.error.cause, { breakLength: 160 });
      result.failures.push(`✖ ${name}\n${error.slice(0, FAILURE_CHARACTERS)}`);
    }
  });
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      const text = chunk.toString();
      print(text);
      result.output = (result.output + text).slice(-OUTPUT_CHARACTERS);
      done();
    },
  });
  stream.pipe(new spec()).pipe(sink);
  const finished = once(sink, "finish").then(() => true);
  // The runner's own limit fails the file, and then waits for a process that may never end; an abort kills it.
  if (!(await endsWithin(finished, timeoutMs))) {
    result.failed++;
    result.failures.push(`✖ the file did not end within ${timeoutMs / 1000} s`);
    stop.abort();
    await endsWithin(finished, AFTER_ABORT_MS);
  }
  signal.removeEventListener("abort", onAbort);
  result.seconds = (performance.now() - began) / 1000;
  if (result.passed + result.failed + result.skipped === 0) {
    result.failed++;
    result.failures.push("✖ the file holds no test");
  }
  return result;
}

async function endsWithin(finished: Promise<boolean>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), ms)));
  try {
    return await Promise.race([finished, late]);
  } finally {
    clearTimeout(timer);
  }
}

function isSet(mark: string | boolean | undefined): boolean {
  return mark !== undefined && mark !== false;
}
