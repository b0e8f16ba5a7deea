import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { FileResult } from "../../harness/file-result.js";
import { lineOf, summary, type Outcome } from "../../harness/report.js";
import { MOST_RETRIES, plan, planLanes, retries } from "../../harness/schedule.js";
import type { Job } from "../../harness/selection.js";

const job = (name: string, suite = "integration"): Job => ({ suite, name, lane: "containerd", timeoutMs: 1 });
const result = (passed: number, failed = 0, skipped = 0, seconds = 1): FileResult => ({
  ...{ passed, failed, skipped, seconds, output: "" },
  failures: failed === 0 ? [] : ["✖ a title\nits error"],
});
const text = (...outcomes: Outcome[]): string => summary({ outcomes, leftOut: [] }, { seconds: 130, keptIn: "/kept" });

describe("the closing lines", () => {
  test("count the last run of each file", () => {
    const flaky = { job: job("integration/a"), first: result(1, 1), second: result(2) };
    assert.match(
      text(flaky, { job: job("integration/b"), first: result(3, 0, 1) }),
      /\n5 passed, 0 failed, 1 skipped$/,
    );
  });
  test("list a flaky file with its first failure and where its output is", () => {
    const flaky = text({ job: job("integration/a"), first: result(1, 1), second: result(2) });
    assert.match(flaky, /^flaky: integration integration\/a\n✖ a title\nits error$/m);
    assert.match(flaky, /^flaky, passed alone: integration\/a$/m);
    assert.match(flaky, /^output of the runs that failed: \/kept$/m);
  });
  test("list a file that failed twice as failed", () => {
    const failed = text({ job: job("integration/a"), first: result(1, 1), second: result(1, 1) });
    assert.match(failed, /^failed: integration\/a$/m);
    assert.doesNotMatch(failed, /flaky/);
    assert.match(failed, /\n1 passed, 1 failed, 0 skipped$/);
  });
  test("name the twenty slowest files of a long run", () => {
    const many = Array.from({ length: 30 }, (_, n) => ({ job: job(`integration/f${n}`), first: result(1, 0, 0, n) }));
    const lines = text(...many).split("\n");
    const first = lines.indexOf("the 20 slowest files:");
    assert.equal(lines[first + 1], "    29.0 s  integration integration/f29");
    assert.equal(lines[first + 20], "    10.0 s  integration integration/f10");
    assert.match(lines[first + 21] ?? "", /^integration: 30 files, 30 passed/);
  });
  test("files that did not run for want of time are named", () => {
    const results = {
      outcomes: [{ job: job("integration/a"), first: result(1) }],
      leftOut: [job("integration/b", "on-docker")],
    };
    const line = "1 files did not run, for want of time: on-docker integration/b";
    assert.ok(summary(results, { seconds: 130, keptIn: "/kept" }).split("\n").includes(line));
  });
  test("a line of a file shows its counts and its time", () => {
    assert.equal(
      lineOf(job("cluster/pods", "cluster"), result(3, 0, 1, 34.12)),
      "✔ cluster/pods  3 passed, 1 skipped (34.1 s)",
    );
    assert.equal(
      lineOf(job("integration/a", "on-docker"), result(0, 2)),
      "✖ on-docker integration/a  0 passed, 2 failed (1.0 s)",
    );
  });
});

describe("the order of the files", () => {
  const orderOf = (names: readonly string[], isSlow: boolean): string[] => {
    const jobs = names.map((name) => job(name));
    return plan(jobs, isSlow).together.map(({ name }) => name);
  };
  test("files that measure the machine come last, alone", () => {
    const jobs = [job("hostile/tenant", "hostile"), job("integration/probes"), job("integration/eviction")];
    const { together, alone } = plan(jobs, false);
    assert.deepEqual(
      together.map(({ name }) => name),
      ["integration/probes"],
    );
    assert.deepEqual(
      alone.map(({ name }) => name),
      ["hostile/tenant", "integration/eviction"],
    );
  });
  test("files that take minutes come first in their lanes, the others keep their order", () => {
    const names = ["integration/b", "integration/a", "faults/threads", "cluster/dynamic-config"];
    assert.deepEqual(orderOf(names, false), [
      "cluster/dynamic-config",
      "faults/threads",
      "integration/b",
      "integration/a",
    ]);
  });
  test("files that take minutes come last on a slow machine, the longest of them at the end", () => {
    const names = ["faults/threads", "integration/b", "cluster/dynamic-config", "integration/a"];
    assert.deepEqual(orderOf(names, true), [
      "integration/b",
      "integration/a",
      "faults/threads",
      "cluster/dynamic-config",
    ]);
  });
  test("lanes of other runtimes and other Nodes run one after the other, and then one of containerd; after machines two", () => {
    const of = (lane: Job["lane"], count: number): Job[] =>
      Array.from({ length: count }, (_, n) => ({ ...job(`${lane}/f${n}`), lane }));
    const all = [
      ...of("containerd", 9),
      ...of("machine", 2),
      ...of("docker", 2),
      ...of("node22", 1),
      ...of("containerd2", 3),
    ];
    assert.deepEqual(planLanes(all, { processors: 2, isSlow: false }), [
      [["containerd"]],
      [["containerd"]],
      [["machine"], ["containerd", "containerd"]],
      [["containerd2"], ["docker"], ["node22"], ["containerd"]],
    ]);
    const onContainerd2 = [...of("containerd2", 9), ...of("machine", 2), ...of("containerd", 2), ...of("node22", 3)];
    assert.deepEqual(planLanes(onContainerd2, { processors: 2, isSlow: false }), [
      [["containerd2"]],
      [["containerd2"]],
      [["machine"], ["containerd2", "containerd2"]],
      [["node22"], ["containerd"], ["containerd2"]],
    ]);
    assert.deepEqual(planLanes(all, { processors: 2, isSlow: true }), [
      [["containerd"]],
      [["containerd"]],
      [["containerd2"], ["docker"], ["node22"], ["machine"], ["containerd"]],
    ]);
    assert.deepEqual(planLanes([...of("plain", 5), ...of("machine", 1)], { processors: 2, isSlow: false }), [
      [["plain"]],
      [["plain"]],
      [["plain"]],
      [["machine"]],
    ]);
  });
  test("failed files run once more, unless one file was chosen or too many failed", () => {
    const jobs = Array.from({ length: MOST_RETRIES + 2 }, (_, n) => job(`integration/f${n}`));
    assert.deepEqual(retries(jobs, jobs.slice(0, 2)), jobs.slice(0, 2));
    assert.deepEqual(retries(jobs.slice(0, 1), jobs.slice(0, 1)), []);
    assert.deepEqual(retries(jobs, jobs.slice(0, MOST_RETRIES + 1)), []);
  });
});
