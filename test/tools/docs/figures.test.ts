// Numbers that several documents state have one home: a file of the code, or one table. Each other statement equals it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { globSync } from "../../harness/glob.js";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** Pages that speak of today. Decisions and released versions speak of their own day. */
const DOCUMENTS = [
  ...["README.md", "SPECIFICATION.md", "SUPPORT.md", "SECURITY.md", "CONTRIBUTING.md", "test/README.md"],
  ...globSync(join(ROOT, "docs"), ".md")
    .filter((name) => !/^(?:adr|reference|measurements)\//.test(name))
    .map((name) => `docs/${name}`),
];
const LINES = DOCUMENTS.flatMap((document) =>
  read(document)
    .split("\n")
    .map((line) => ({ document, line })),
);

/** The cells of each row of the table that begins with this cell, without the head. */
function tableOf(page: string, firstCell: string): string[][] {
  const lines = page.split("\n");
  const head = lines.findIndex((line) => line.startsWith(`| ${firstCell} |`));
  assert.ok(head >= 0, `no table begins with "${firstCell}"`);
  const end = lines.findIndex((line, index) => index > head && !line.startsWith("|"));
  return lines.slice(head + 2, end).map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
}

/** Every statement of a pattern's first group, with its document, that is none of the known values. */
function otherFigures(pattern: RegExp, known: readonly string[], where = /(?:)/): string[] {
  return LINES.filter(({ line }) => where.test(line)).flatMap(({ document, line }) =>
    [...line.matchAll(pattern)]
      .map(([, value = ""]) => value)
      .filter((value) => !known.includes(value))
      .map((value) => `${document}: ${value}`),
  );
}

const { engines, version, scripts } = JSON.parse(read("package.json")) as {
  engines: { node: string };
  version: string;
  scripts: Record<string, string>;
};
const CI = [...read(".ci/run").matchAll(/^step (\d+) (\S+)/gm)].map(([, minutes = "", script = ""]) => ({
  script,
  minutes: Number(minutes),
}));
const suitesOf = (script: string): string[] => (scripts[script] ?? "").replace(/^node test\/\w+\.mjs /, "").split(" ");

describe("Node.js", () => {
  const [, older = "", newer = ""] = /^\^(\S+) \|\| >=(\S+)$/.exec(engines.node) ?? [];
  const carried = (JSON.parse(read("tools/build/node/package.json")) as { version: string }).version;
  const byHand = [...read("docs/measurements/runs-by-hand.md").matchAll(/\b(2\d\.\d+)\b(?=[^|]*: all unit)/g)].map(
    ([, one = ""]) => one,
  );
  const [, major = "", minor = ""] = /OLDEST_NODE = \[(\d+), (\d+)\]/.exec(read("tools/build/bootstrap.mjs")) ?? [];

  test("every version that a document names is of package.json's engines, of the packages, of the oldest that starts commands, or of a run", () => {
    const known = [older, newer, carried, carried.replace(/\.\d+$/, ""), `${major}.${minor}`, ...byHand];
    assert.ok(byHand.length === 2 && known.every((one) => /^\d+\.\d+/.test(one)), known.join(" "));
    assert.deepEqual(
      otherFigures(/(?<!Ubuntu |Debian |Engine |[\d.])(2[0-9]\.\d+(?:\.\d+)?)\b/g, known, /\bNode(?:\.js)?\b/),
      [],
    );
  });

  test("README.md and SUPPORT.md name both versions that are supported", () => {
    for (const page of ["README.md", "SUPPORT.md"]) {
      assert.ok(
        [older, newer].every((one) => read(page).includes(one)),
        page,
      );
    }
  });
});

describe("container runtimes", () => {
  const supported = tableOf(read("SUPPORT.md"), "runtime");

  test("every version of containerd that a document names is in the table of SUPPORT.md", () => {
    const known = supported.flatMap((cells) =>
      [...cells.join(" ").matchAll(/\b(\d+\.\d+(?:\.\d+)?)\b/g)].map(([, one = ""]) => one),
    );
    assert.deepEqual(otherFigures(/\bcontainerd (\d+\.\d+(?:\.\d+)?)\b/g, known), []);
  });

  test("what SUPPORT.md says that CI runs, CI runs: containerd 2 and virtual machines", () => {
    assert.ok(supported.some(([name, state]) => name === "containerd 2.x" && state?.includes("CI runs")));
    assert.ok(suitesOf("ci:suites").includes("on-containerd2") && suitesOf("ci:suites").includes("vm"));
  });

  test("no document says that a runtime is not run by CI while another says that it is", () => {
    assert.deepEqual(
      LINES.filter(({ line }) => /containerd[^|.]*\bnot by CI\b/.test(line)),
      [],
    );
  });
});

describe("minutes of tests", () => {
  const suites = tableOf(read("test/README.md"), "suite").map(([name = "", , , minutes = "", , step = ""]) => ({
    name: name.replaceAll("`", ""),
    minutes: Number(/^\d+/.exec(minutes)?.[0]),
    step: /`(ci:\w+)`/.exec(step)?.[1],
  }));

  test("the column of CI in test/README.md is what package.json's scripts run", () => {
    // The core's files are in other suites, which CI runs.
    for (const { name, step } of suites.filter(({ name }) => name !== "core")) {
      assert.ok(step !== undefined && suitesOf(step).includes(name), `${name} is not in ${step ?? "no step"}`);
    }
    const listed = suites.map(({ name }) => name);
    const run = CI.flatMap(({ script }) => (scripts[script]?.startsWith("node test/run.mjs ") ? suitesOf(script) : []));
    assert.deepEqual(
      run.filter((name) => !listed.includes(name)),
      [],
    );
  });

  for (const { script, minutes } of CI) {
    test(`the limit of ${script} is at least the longest of its suites, on GitHub too`, () => {
      const longest = Math.max(0, ...suites.filter(({ step }) => step === script).map((suite) => suite.minutes));
      assert.ok(longest < minutes, `${longest} of ${minutes} minutes`);
      const [, onGitHub = ""] =
        new RegExp(String.raw`script: "${script}", minutes: (\d+)`).exec(read(".github/workflows/ci.yml")) ?? [];
      assert.ok(Number(onGitHub) >= minutes, `${onGitHub} minutes in ci.yml`);
    });
  }

  test("npm test keeps the time that documents promise: the units and the core fit into ten minutes", () => {
    const ofTest = suites.filter(({ name }) => ["unit", "core"].includes(name));
    assert.ok(ofTest.length === 2 && ofTest.reduce((sum, { minutes }) => sum + minutes, 0) <= 10);
    assert.deepEqual(otherFigures(/\bwithin (\w+) minutes\b/g, ["ten"], /npm test/), []);
  });

  test("CONTRIBUTING.md names the steps of .ci/run", () => {
    const [, , what = ""] = /^\| `\.ci\/run` \|([^|]*)\|/m.exec(read("CONTRIBUTING.md"))?.[0].split("|") ?? [];
    assert.deepEqual(
      [...what.matchAll(/\bci:\w+/g)].map(([step]) => step),
      CI.map(({ script }) => script),
    );
  });
});

test("each goal of speed in SPECIFICATION.md is a goal in docs/measurements, and is missed there if it is called missed", () => {
  const [, speed = ""] = read("SPECIFICATION.md").split("## Speed");
  const measured = globSync(join(ROOT, "docs/measurements"), ".md")
    .flatMap((name) => read(`docs/measurements/${name}`).split("\n"))
    .filter((line) => /[≤≥]/.test(line));
  const goals = tableOf(speed, "promise").flatMap(([promise = "", goal = ""]) =>
    goal.split(";").flatMap((part) => {
      const [bound] = /[≤≥] [\d.]+/.exec(part) ?? [];
      return bound === undefined ? [] : [{ promise, bound, isMissed: part.includes("(missed)") }];
    }),
  );
  assert.ok(goals.length > 10);
  const unknown = goals.filter(
    ({ bound, isMissed }) =>
      !measured.some((line) => new RegExp(`${bound}(?![.\\d])`).test(line) && line.includes("missed") === isMissed),
  );
  assert.deepEqual(unknown, []);
});

describe("sizes and counts", () => {
  test("the size of the .deb is one: docs/packages.md, the changes, ADR 0090, and below the limit of the release", () => {
    const [row = []] = tableOf(read("docs/packages.md"), "amd64");
    assert.equal(row[0], version);
    const size = Number(/^(\d+) MB$/.exec(row[1] ?? "")?.[1]);
    const [, limit = ""] = /-name '\*\.deb' -size \+(\d+)c/.exec(read(".github/workflows/release.yml")) ?? [];
    assert.ok(size * 1e6 < Number(limit), `${size} MB of ${limit} bytes`);
    const [, changes = ""] = read("CHANGELOG.md").split(/^## /m);
    for (const text of [changes, read("docs/adr/0090-smaller-packages.md")]) {
      const [, stated] = /(?:\.deb has|\| \.deb \|[^|]*\|) (\d+(?:\.\d+)?) MB/.exec(text) ?? [];
      assert.ok(stated === undefined || Math.round(Number(stated)) === size, `${stated} MB`);
    }
  });

  test("the count of attacks is that of the table's rows", () => {
    const page = read("docs/measurements/under-attack.md");
    const kept = tableOf(page, "attack").map((cells) => cells.at(-1) === "kept");
    const [, held, all] = /holds for (\d+) of (\d+) attacks/.exec(page) ?? [];
    assert.deepEqual([Number(held), Number(all)], [kept.filter(Boolean).length, kept.length]);
  });

  test("the counts of upstream's conformance specs are in docs/docker.md alone", () => {
    const others = LINES.filter(
      ({ document, line }) =>
        document !== "docs/docker.md" && /\b\d{2,} (?:of \d{2,} )?(?:conformance )?specs\b/.test(line),
    );
    assert.deepEqual(others, []);
  });

  test("the comparison at the top of README.md has the figures of docs/measurements/beside-upstream.md", () => {
    const page = read("docs/measurements/beside-upstream.md");
    const measured = ["medians of four turns", "medians of two turns"]
      .flatMap((head) => tableOf(page, head))
      .map((cells) => cells.slice(1, 3).map((cell) => cell.split(";")[0]?.trim() ?? ""));
    for (const [what = "", ...cells] of tableOf(
      read("README.md"),
      "beside upstream's kubelet 1.36.2, by turns on 2 cores",
    )) {
      const stated = cells.map((cell) => cell.replaceAll("*", "").replace(/ (?:ms|MiB)$/, ""));
      assert.ok(
        measured.some((pair) => pair.join() === stated.join()),
        `${what}: ${stated.join(" and ")}`,
      );
    }
  });
});
