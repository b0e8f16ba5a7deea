// Which test files there are and how they run. Invariant: only files that exist as sources run (compiled code
// of deleted tests never does); a file without a test, and a suite that ran none of its files' tests, are failures.

import { existsSync, globSync } from "./glob.js";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { relative } from "node:path";
import { finished } from "node:stream/promises";
import { inspect } from "node:util";
import { PATIENCE } from "../../packaging/standalone/wait.js";

export interface Suite {
  name: "unit" | "integration" | "cluster" | "faults" | "hostile" | "vm";
  /** Files that run at the same time. Those on the shared runtime run alone. */
  concurrency: number;
  /** Milliseconds for one file. */
  timeoutMs: number;
  /** Needs the private containerd and its namespace. */
  environment?: true;
  /** Runs only when it is named. */
  onlyByName?: true;
}

const SUITES: readonly Suite[] = [
  { name: "unit", concurrency: 2, timeoutMs: 420_000 },
  { name: "integration", concurrency: 1, timeoutMs: 420_000, environment: true },
  // Against an API server: the one of KUBECONFIG, or the fixture in test/fake-api.
  { name: "cluster", concurrency: 1, timeoutMs: 420_000, environment: true },
  { name: "faults", concurrency: 1, timeoutMs: 600_000, environment: true },
  // An attacker's bench: short, or whole with NODELET_HOSTILE=whole (`npm run test:hostile`).
  { name: "hostile", concurrency: 1, timeoutMs: 3_600_000, environment: true },
  // Boots a machine of its own; see test/vm.
  { name: "vm", concurrency: 1, timeoutMs: 1_500_000, onlyByName: true },
];

export interface Tally {
  suite: string;
  files: number;
  passed: number;
  failed: number;
  skipped: number;
  seconds: number;
  /** Title and error of each test that failed: the last lines of the output, which CI keeps, show them. */
  failures: string[];
}

/** Characters of one failure that the summary shows. */
const FAILURE_CHARACTERS = 3000;

/** The files that the arguments after `npm test --` select. */
export interface Selection {
  suites: readonly Suite[];
  /** Parts of paths; a file is taken when it contains one of them, or when there are none. */
  filters: readonly string[];
}

export function select(words: readonly string[]): Selection {
  const named = SUITES.filter(({ name }) => words.includes(name));
  const filters = words.filter((word) => !SUITES.some(({ name }) => name === word));
  const usual = SUITES.filter(({ onlyByName }) => onlyByName !== true);
  return { suites: named.length === 0 ? usual : named, filters };
}

/** The suite of a test source (path below test/, with `/`): its own folder's, unit otherwise. */
export function suiteOf(source: string): Suite["name"] {
  return SUITES.find(({ name }) => source.startsWith(`${name}/`))?.name ?? "unit";
}

/** Compiled test files of a suite, in the order of their names. */
export function filesOf(root: string, suite: Suite, filters: readonly string[]): string[] {
  return globSync(`${root}/test`, ".test.ts")
    .filter((source) => suiteOf(source) === suite.name)
    .filter((source) => filters.length === 0 || filters.some((filter) => `test/${source}`.includes(filter)))
    .map((source) => `${root}/dist/test/${source.replace(/\.ts$/, ".js")}`);
}

/** Runs the files, reports on stdout, counts. Never throws for a failing test. */
export async function runSuite(
  root: string,
  suite: Suite,
  files: readonly string[],
  signal: AbortSignal,
): Promise<Tally> {
  const counts = { passed: 0, failed: 0, skipped: 0, seconds: 0 };
  const tally: Tally = { suite: suite.name, files: files.length, ...counts, failures: [] };
  const unbuilt = files.filter((file) => !existsSync(file));
  for (const file of unbuilt) {
    console.log(`✖ not built: ${relative(root, file)}`);
    tally.failed++;
  }
  const began = performance.now();
  const stream = run({
    files: files.filter((file) => !unbuilt.includes(file)),
    concurrency: suite.concurrency,
    timeout: suite.timeoutMs * PATIENCE,
    signal,
  });
  const names = new Set(files);
  stream.on("test:pass", ({ name, skip, todo, details }) => {
    if (details.type === "suite") return;
    if (names.has(name)) {
      // A file that holds no test reports itself as one that passed.
      console.log(`✖ no test in ${relative(root, name)}`);
      tally.failed++;
    } else if (isSet(skip) || isSet(todo)) tally.skipped++;
    else tally.passed++;
  });
  stream.on("test:fail", ({ name, file, details, todo }) => {
    if (isSet(todo)) tally.skipped++;
    // A suite fails with its tests, which are counted; one that fails by itself (a hook) counts too.
    else if (details.type !== "suite" || !/subtests? failed/.test(details.error.message)) {
      tally.failed++;
      const error = inspect(details.error.cause, { breakLength: 160 });
      tally.failures.push(`✖ ${relative(root, file ?? "")}: ${name}\n${error.slice(0, FAILURE_CHARACTERS)}`);
    }
  });
  const output = stream.pipe(new spec());
  output.pipe(process.stdout, { end: false });
  await finished(output);
  tally.seconds = (performance.now() - began) / 1000;
  if (tally.passed + tally.failed + tally.skipped === 0) {
    console.log(`✖ suite ${suite.name}: ${files.length} files, not one test`);
    tally.failed++;
  }
  return tally;
}

/** The closing lines; the `# pass` and `# fail` lines are counted over all suites. */
export function summary(tallies: readonly Tally[]): string {
  const sum = (key: "passed" | "failed" | "skipped" | "seconds"): number =>
    tallies.reduce((total, tally) => total + tally[key], 0);
  const perSuite = tallies.map(
    ({ suite, files, passed, failed, skipped, seconds }) =>
      `${suite}: ${files} files, ${passed} passed, ${failed} failed, ${skipped} skipped, ${seconds.toFixed(1)} s`,
  );
  return [
    "",
    ...tallies.flatMap(({ failures }) => failures),
    ...perSuite,
    `# tests ${sum("passed") + sum("failed") + sum("skipped")}`,
    `# pass ${sum("passed")}`,
    `# fail ${sum("failed")}`,
    `# skipped ${sum("skipped")}`,
    `${sum("passed")} passed, ${sum("failed")} failed`,
  ].join("\n");
}

function isSet(mark: string | boolean | undefined): boolean {
  return mark !== undefined && mark !== false;
}
