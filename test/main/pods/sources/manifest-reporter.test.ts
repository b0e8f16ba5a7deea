// Problems of manifests: which are found, how often they are reported, and what the servers' threads get.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ManifestReporter } from "../../../../src/main/pods/sources/manifest-reporter.js";
import {
  refusalOf,
  unreadable,
  warningProblems,
  type ManifestState,
} from "../../../../src/main/pods/sources/manifest-state.js";
import type { PodSourceName } from "../../../../src/main/pods/sources/merge.js";
import { manifestMetrics } from "../../../../src/main/pods/sources/metrics.js";
import { shadowedPods, type NameOwner } from "../../../../src/main/pods/sources/shadowed-pods.js";
import type { NodeManifests } from "../../../../src/shared/contracts/manifest-facts.js";
import { ManifestError } from "../../../../src/shared/kubernetes/api/manifest/violation.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { pod as basePod } from "../../../support/pods.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const pod = (name: string, uid: string, namespace = "default"): Pod => {
  const made = basePod({}, name);
  return { ...made, metadata: { ...made.metadata, uid: podUid(uid), namespace } };
};
const state = (origin: string, pods: readonly Pod[], more: Partial<ManifestState> = {}): ManifestState => ({
  ...{ origin, source: "file", pods, refused: undefined, warnings: [] },
  ...more,
});

describe("shadowed pods", () => {
  const web = pod("web", "1");
  const other = pod("web", "2");
  const rows: readonly {
    name: string;
    manifests: readonly ManifestState[];
    owners?: Record<string, NameOwner>;
    sources?: Record<string, PodSourceName>;
    /** "origin of the shadowed pod < origin that runs" */
    shadowed: readonly string[];
  }[] = [
    { name: "one file", manifests: [state("/a", [web])], shadowed: [] },
    {
      name: "two files with one name",
      manifests: [state("/a", [web]), state("/b", [other])],
      owners: { "default/web": { uid: podUid("1"), isEnding: false } },
      shadowed: ["/b < /a"],
    },
    {
      name: "the second file runs since before",
      manifests: [state("/a", [web]), state("/b", [other])],
      owners: { "default/web": { uid: podUid("2"), isEnding: false } },
      shadowed: ["/a < /b"],
    },
    {
      name: "nothing runs yet",
      manifests: [state("/a", [web]), state("/b", [other])],
      shadowed: [],
    },
    {
      name: "equal names in two namespaces",
      manifests: [state("/a", [web]), state("/b", [pod("web", "3", "other")])],
      owners: {
        "default/web": { uid: podUid("1"), isEnding: false },
        "other/web": { uid: podUid("3"), isEnding: false },
      },
      shadowed: [],
    },
    {
      name: "an edited file whose earlier pod terminates",
      manifests: [state("/a", [other])],
      owners: { "default/web": { uid: podUid("1"), isEnding: true } },
      shadowed: [],
    },
    {
      name: "a file and the URL",
      manifests: [state("/a", [web]), state("http://h/", [other], { source: "url" })],
      owners: { "default/web": { uid: podUid("1"), isEnding: false } },
      shadowed: ["http://h/ < /a"],
    },
    {
      name: "a pod of the API server with the name",
      manifests: [state("/a", [web])],
      owners: { "default/web": { uid: podUid("9"), isEnding: false } },
      shadowed: ["/a < the API server"],
    },
    {
      name: "one metadata.uid in a file and the manifest API, which has it first",
      manifests: [state("/a", [web]), state("default/web", [web], { source: "manifest-api" })],
      sources: { "1": "submitted" },
      owners: { "default/web": { uid: podUid("1"), isEnding: false } },
      shadowed: ["/a < default/web"],
    },
    {
      name: "one name twice in one list",
      manifests: [state("http://h/", [web, other], { source: "url" })],
      owners: { "default/web": { uid: podUid("1"), isEnding: false } },
      shadowed: ["http://h/ < http://h/"],
    },
  ];
  for (const { name, manifests, owners = {}, sources = {}, shadowed } of rows) {
    test(`${name}: ${shadowed.length === 0 ? "nothing is shadowed" : shadowed.join()}`, () => {
      const found = shadowedPods(manifests, { ownerOf: (full) => owners[full], sourceOf: (uid) => sources[uid] });
      assert.deepEqual(
        [...found].flatMap(([{ origin }, all]) => all.map(({ runs }) => `${origin} < ${runs ?? ""}`)),
        shadowed,
      );
    });
  }
});

test("a refusal hides values that may be secrets, and is bounded", () => {
  const violation = { reason: "wrong type", allowed: "a string", line: 3, column: 4 } as const;
  const error = new ManifestError("/a", [
    { ...violation, field: "spec.containers[0].env[0].value", got: "4711" },
    { ...violation, field: "spec.hostNetwork", got: `"${"x".repeat(5000)}"` },
  ]);
  const { message, line, column, field } = refusalOf(error, [], 7);
  assert.deepEqual({ line, column, field }, { line: 3, column: 4, field: "spec.containers[0].env[0].value" });
  assert.doesNotMatch(message, /4711/);
  assert.match(
    message,
    /^spec\.containers\[0\]\.env\[0\]\.value: wrong type; allowed: a string; line 3: spec\.hostNetwork/,
  );
  assert.equal(message.length, 1024);
  const token = new ManifestError("/a", [{ ...violation, field: "", got: '"t0ken"', allowed: "a v1 Pod" }]);
  assert.equal(refusalOf(token, [], 7).message, "wrong type; allowed: a v1 Pod");
  const warning = { field: "", message: "m", line: 1, column: 1 };
  assert.equal(
    warningProblems(
      Array.from({ length: 500 }, () => warning),
      7,
    ).length,
    20,
  );
});

describe("the reporter", () => {
  const kit = (manifests: ManifestState[], owners: Record<string, NameOwner> = {}) => {
    const clock = new SteppedClock(1000);
    const { log, errors } = keptLog();
    const lists: NodeManifests[] = [];
    const events: string[] = [];
    const registry = new ThreadRegistry("main");
    const reporter = new ManifestReporter({
      manifests: () => manifests,
      configured: ["/m"],
      ownerOf: (full) => owners[full],
      sourceOf: () => undefined,
      publish: (list) => lists.push(list),
      events: { node: ({ type, reason, message }) => events.push(`${type} ${reason} ${message}`) },
      metrics: manifestMetrics(registry),
      clock,
      log,
    });
    const report = (): void => {
      reporter.changed();
      clock.step(1000);
    };
    return { manifests, owners, lists, events, errors, registry, reporter, report };
  };
  const broken = (message: string): Partial<ManifestState> => ({ refused: unreadable(message, 5) });

  test("a refused manifest is reported once per content, again after it was mended, and never after a stop", () => {
    const { manifests, lists, events, report, reporter } = kit([state("/m/a.yaml", [], broken("first"))]);
    report();
    report();
    assert.deepEqual(events, ["Warning InvalidManifest manifest /m/a.yaml: first"]);
    assert.equal(lists.length, 1, "an equal list is not sent again");
    manifests[0] = state("/m/a.yaml", [], broken("second"));
    report();
    manifests[0] = state("/m/a.yaml", [pod("a", "1")]);
    report();
    assert.deepEqual(lists.at(-1)?.items[0]?.problems, []);
    manifests[0] = state("/m/a.yaml", [pod("a", "1")], broken("second"));
    report();
    assert.deepEqual(events.slice(1), [
      "Warning InvalidManifest manifest /m/a.yaml: second",
      "Warning InvalidManifest manifest /m/a.yaml: second; the pods of its last good version keep running",
    ]);
    manifests.length = 0;
    report();
    assert.deepEqual(lists.at(-1), { configured: ["/m"], items: [], more: 0 });
    reporter.stop();
    manifests.push(state("/m/b.yaml", [], broken("late")));
    report();
    assert.equal(lists.at(-1)?.items.length, 0);
  });

  test("a shadowed manifest is in the log, and keeps its first time", () => {
    const owners = { "default/web": { uid: podUid("1"), isEnding: false } };
    const { manifests, lists, events, errors, report } = kit(
      [state("/m/a.yaml", [pod("web", "1")]), state("/m/b.yaml", [pod("web", "2")])],
      owners,
    );
    report();
    const since = lists[0]?.items[0]?.problems[0]?.since;
    manifests.push(
      state("/m/c.yaml", [], { warnings: warningProblems([{ field: "f", message: "m", line: 2, column: 3 }], 4) }),
    );
    report();
    const text = "manifest /m/b.yaml: its pod default/web does not run: the pod of /m/a.yaml has that name and runs";
    assert.deepEqual(errors(), [text]);
    assert.deepEqual(events, [
      `Warning ShadowedManifest ${text}`,
      "Warning ManifestWarning manifest /m/c.yaml:2:3: f: m",
    ]);
    assert.equal(lists.at(-1)?.items[0]?.problems[0]?.since, since);
  });

  test("ten thousand refused manifests are counted, and few are listed: those with problems first", async () => {
    const many = Array.from({ length: 10_000 }, (_one, index) => state(`/m/${index}`, [], broken("x")));
    const { manifests, lists, report, registry } = kit([...many, state("/a", [pod("a", "1")])]);
    report();
    const [list] = lists;
    assert.equal(list?.items.length, 500);
    assert.equal(list.more, 9_500);
    const { families } = await registry.exportSnapshot();
    const refused = families.find(({ name }) => name === "nodelet_manifests_refused");
    assert.deepEqual(
      refused?.samples.map(({ value }) => value),
      [10_000],
    );
    manifests.splice(0, 10_000);
    report();
    assert.deepEqual(
      lists.at(-1)?.items.map(({ origin }) => origin),
      ["/a"],
    );
  });
});
