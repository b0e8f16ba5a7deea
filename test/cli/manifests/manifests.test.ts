// Refused, shadowed and warned manifests in `nodelet status`, `pods` and `why`.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { podTable } from "../../../src/cli/commands/pods.js";
import { findManifests } from "../../../src/cli/manifests/find.js";
import { manifestRows, rowAsPod } from "../../../src/cli/manifests/rows.js";
import { podState } from "../../../src/cli/pods/state.js";
import { problemsOf } from "../../../src/cli/problems.js";
import { explainManifests } from "../../../src/cli/why/explain-manifest.js";
import { explain } from "../../../src/cli/why/explain.js";
import { subjectOf } from "../../../src/cli/why/subject.js";
import type { ManifestFacts, ManifestProblem, NodeManifests } from "../../../src/shared/contracts/manifest-facts.js";
import { containerStatus, input, node, NOW, PLAIN, pod, RUNNING } from "../kit.js";

const manifest = (name: string, problems: ManifestProblem[], more: Partial<ManifestFacts> = {}): ManifestFacts => ({
  ...{ origin: `/m/${name}`, source: "file", pods: [], claims: [], problems },
  ...more,
});
const problem = (kind: ManifestProblem["kind"], message: string, more: Partial<ManifestProblem> = {}) => ({
  ...{ kind, message, field: "", line: 3, column: 18, since: NOW - 5000 },
  ...more,
});
const list = (...items: ManifestFacts[]): NodeManifests => ({ configured: ["/m"], items, more: 0 });

const BAD_NAME = manifest(
  "badname.yaml",
  [problem("refused", 'metadata.name: invalid value "My_Pod"', { reason: "invalid value" })],
  {
    claims: ["default/My_Pod"],
  },
);
const SYNTAX = manifest("yamlerr.yaml", [problem("refused", "syntax: bad", { reason: "syntax" })]);
const SHADOWED = manifest(
  "copy.yaml",
  [
    problem("shadowed", "its pod default/web-n does not run", {
      pod: "default/web-n",
      runs: "/m/web.yaml",
      line: 0,
      column: 0,
    }),
  ],
  { pods: ["default/web-n"] },
);
const WARNED = manifest(
  "web.yaml",
  [problem("warning", 'spec.comand: unknown field, ignored (did you mean "command"?)')],
  {
    pods: ["default/web-n"],
  },
);
const FINE = manifest("fine.yaml", [], { pods: ["default/fine-n"] });
const ALL = list(BAD_NAME, SYNTAX, SHADOWED, WARNED, FINE);

const web = pod(
  { phase: "Running", containerStatuses: [containerStatus(RUNNING, { ready: true })] },
  { nodeName: "n" },
  "web-n",
);
const fine = pod(
  { phase: "Running", containerStatuses: [containerStatus(RUNNING, { ready: true })] },
  { nodeName: "n" },
  "fine-n",
);

test("a manifest without a pod is a row of its own, never fine; others are not", () => {
  const rows = manifestRows(ALL);
  assert.deepEqual(
    rows.map(({ origin, state, namespace }) => `${namespace} ${origin} ${state}`),
    [
      "default /m/badname.yaml InvalidManifest",
      "- /m/yamlerr.yaml InvalidManifest",
      "default /m/copy.yaml ShadowedManifest",
    ],
  );
  assert.deepEqual(
    manifestRows(ALL, "other").map(({ origin }) => origin),
    ["/m/yamlerr.yaml"],
  );
  const pods = rows.map(rowAsPod);
  assert.deepEqual(
    pods.map((one) => podState(one).fine),
    [false, false, false],
  );
  const lines = podTable(PLAIN, pods, NOW)
    .split("\n")
    .map((line) => line.split(/\s+/).join(" "));
  assert.equal(lines[1], "default badname.yaml 0/0 InvalidManifest 0 5s");
  assert.equal(lines[3], "default copy.yaml 0/0 ShadowedManifest 0 5s");
});

test("each manifest with problems is a problem of the node, with place, reason and remedy", () => {
  const problems = problemsOf(node({}, { manifests: ALL }));
  assert.deepEqual(
    problems.map(({ severity, what, since }) => `${severity} ${what} ${since}`),
    [
      `error manifest /m/badname.yaml:3:18 is refused: metadata.name: invalid value "My_Pod" ${NOW - 5000}`,
      `error manifest /m/yamlerr.yaml:3:18 is refused: syntax: bad ${NOW - 5000}`,
      `error manifest /m/copy.yaml has no effect: its pod default/web-n does not run ${NOW - 5000}`,
      `warning manifest /m/web.yaml:3:18 is accepted with a warning: spec.comand: unknown field, ignored (did you mean "command"?) ${NOW - 5000}`,
    ],
  );
  assert.ok(problems.every(({ help }) => help.length > 10));
  const many = list(...Array.from({ length: 30 }, (_one, index) => manifest(`${index}`, [problem("refused", "x")])));
  const shown = problemsOf(node({}, { manifests: { ...many, more: 70 } }));
  assert.deepEqual([shown.length, shown.at(-1)?.what], [21, "80 more manifests have problems"]);
});

test("a refused manifest says what to do by its cause", () => {
  const rows: readonly [message: string, reason: NonNullable<ManifestProblem["reason"]>, help: RegExp][] = [
    [
      'apiVersion: unsupported value "apps/v1"; allowed: v1; line 2: kind: unsupported value "Deployment"',
      "unsupported value",
      /runs pods only/,
    ],
    [
      "spec.volumes[0].persistentVolumeClaim: forbidden: static pods may not reference persistentvolumeclaims",
      "forbidden",
      /hostPath/,
    ],
    ["syntax: the file is empty; expected one v1 Pod", "syntax", /put one v1 Pod/],
    ["syntax: the text is not valid UTF-8", "syntax", /^it is no text: remove it from the folder, or save it as UTF-8/],
    ["syntax: the text is not valid UTF-16", "syntax", /^it is no text/],
    [
      "syntax: the character U+0000 is not allowed; write it as an escape",
      "syntax",
      /^texts have no such bytes: remove it/,
    ],
    [
      "syntax: the character U+007F is not allowed; write it as an escape",
      "syntax",
      /^texts have no such bytes: remove it/,
    ],
    ["syntax: Nested mappings are not allowed", "syntax", /indentation/],
    ["its symbolic link leads nowhere", "unreadable", /mend the link/],
    ["the kubelet must be able to read it (EACCES)", "unreadable", /permissions/],
    ["its size must be at most 10 MiB", "unreadable", /hostPath/],
    ["a manifest must be a regular file", "unreadable", /regular file/],
  ];
  for (const [message, reason, help] of rows) {
    const { findings, fine: good } = explainManifests([manifest("a", [problem("refused", message, { reason })])]);
    assert.match(findings[0]?.help.join("\n") ?? "", help, message);
    assert.match(findings[0]?.help.at(-1) ?? "", /correct the file/);
    assert.equal(good, false);
  }
});

describe("nodelet why", () => {
  const found: readonly [named: string, origins: readonly string[]][] = [
    ["/m/badname.yaml", ["/m/badname.yaml"]],
    ["/m/../m/badname.yaml", ["/m/badname.yaml"]],
    ["badname.yaml", ["/m/badname.yaml"]],
    ["badname", ["/m/badname.yaml"]],
    ["My_Pod", ["/m/badname.yaml"]],
    ["default/My_Pod", ["/m/badname.yaml"]],
    ["default/web-n", ["/m/copy.yaml", "/m/web.yaml"]],
    ["none", []],
  ];
  for (const [named, origins] of found) {
    test(`finds ${origins.length === 0 ? "no manifest" : origins.join(" and ")} by ${named}`, () => {
      assert.deepEqual(
        findManifests(ALL.items, named).map(({ origin }) => origin),
        origins,
      );
    });
  }

  test("takes a pod before a manifest, the pod of an accepted file, and says which folder it reads", () => {
    const about = (named: string) => {
      const subject = subjectOf([web, fine], ALL, named);
      return subject.kind === "pod" ? subject.pod.metadata.name : subject.manifests.map(({ origin }) => origin);
    };
    assert.equal(about("web"), "web-n");
    assert.equal(about("web.yaml"), "web-n");
    assert.equal(about("/m/fine.yaml"), "fine-n");
    assert.deepEqual(about("copy"), ["/m/copy.yaml"]);
    assert.deepEqual(about("yamlerr"), ["/m/yamlerr.yaml"]);
    assert.throws(() => about("nothing"), { message: "this node has no pod nothing", exitCode: 1 });
    assert.throws(() => about("/m/sub"), {
      message: "/m/sub is no manifest of this node",
      remedy: /reads \/m: files of the folder itself/,
    });
  });

  test("names the warnings of a pod's own manifest first, and others that want its name", () => {
    const waiting = { waiting: { reason: "CrashLoopBackOff", message: "back-off" } };
    const crashed = pod(
      { phase: "Running", containerStatuses: [containerStatus(waiting)] },
      { nodeName: "n" },
      "web-n",
    );
    const { findings } = explain({ ...input({ pod: crashed }), node: node({}, { manifests: ALL }) }, undefined);
    assert.deepEqual(
      [findings[0]?.severity, findings[0]?.about, findings[0]?.what],
      ["warning", "manifest", '/m/web.yaml:3:18: spec.comand: unknown field, ignored (did you mean "command"?)'],
    );
    assert.match(findings[0]?.help[0] ?? "", /correct it in \/m\/web\.yaml/);
    assert.match(findings[1]?.what ?? "", /another manifest wants this name: \/m\/copy\.yaml/);
    assert.ok(findings.length > 2, "the crash is explained, too");
  });

  test("a pod that runs while its newest manifest is refused is not fine", () => {
    const edited = manifest("web.yaml", [problem("refused", "x", { reason: "syntax" })], { pods: ["default/web-n"] });
    const { fine: good, findings } = explain(
      { ...input({ pod: web }), node: node({}, { manifests: list(edited) }) },
      undefined,
    );
    assert.equal(good, false);
    assert.match(findings[0]?.what ?? "", /its manifest is refused in its present version: \/m\/web\.yaml:3:18: x/);
    assert.match(findings[0]?.help.at(-1) ?? "", /until then default\/web-n of its last good version runs on/);
  });
});
