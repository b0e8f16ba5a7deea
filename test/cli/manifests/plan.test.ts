// What apply, delete and restart would do, by the manifests and pods of the node.

import { deepEqual, equal, match, ok, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import { diffOf } from "../../../src/cli/commands/diff.js";
import { NoPodError } from "../../../src/cli/errors.js";
import { manifestJson, parseManifestJson } from "../../../src/cli/manifests/exact-json.js";
import { contentOf, parsed, planApply, RESTARTED_AT, restarted } from "../../../src/cli/manifests/plan.js";
import { targetOf, withoutKind } from "../../../src/cli/manifests/target.js";
import type { PodUid } from "../../../src/shared/kubernetes/identifiers.js";
import { kept, running, state, written } from "./kit.js";

const NONE: ReadonlySet<PodUid> = new Set();
const actions = (...args: Parameters<typeof planApply>): string[] => planApply(...args).map(({ action }) => action);

describe("apply", () => {
  test("creates what is not there, configures what differs and leaves what is equal", () => {
    const manifests = [written("new"), written("same"), written("other", { containers: [{ name: "a" }] })];
    deepEqual(actions(manifests, state({ manifests: [kept("same"), kept("other")] }), NONE), [
      "create",
      "unchanged",
      "configure",
    ]);
  });

  test("the order of keys, and the mark of a restart, are no difference", () => {
    const one = written("web", { hostNetwork: true, containers: [] }, { annotations: { a: "1" } });
    const there = kept("web", {
      metadata: { annotations: { [RESTARTED_AT]: "now", a: "1" }, name: "web", namespace: "default" },
      spec: { containers: [], hostNetwork: true },
    });
    deepEqual(actions([one], state({ manifests: [there] }), NONE), ["unchanged"]);
  });

  test("integers beyond 2^53 are compared and sent with all digits", () => {
    const grace = (digits: string): string => `{"containers":[],"terminationGracePeriodSeconds":${digits}}`;
    const there = kept("web", {
      spec: parseManifestJson(grace("9223372036854775807")) as Record<string, unknown>,
    });
    const one = { ...written("web"), spec: grace("9223372036854775807") };
    deepEqual(actions([one], state({ manifests: [there] }), NONE), ["unchanged"]);
    const other = { ...one, spec: grace("9223372036854775806") };
    deepEqual(actions([other], state({ manifests: [there] }), NONE), ["configure"]);
    equal(manifestJson(parsed(other).spec), grace("9223372036854775806"));
    const [step] = planApply([other], state({ manifests: [there] }), NONE);
    ok(step);
    match(diffOf(step), /^-.*: 9223372036854775807\n\+.*: 9223372036854775806$/m);
  });

  test("a manifest that the kubelet refuses is sent again", () => {
    deepEqual(actions([written("web")], state({ manifests: [kept("web", { refused: true })] }), NONE), ["configure"]);
  });

  const FOREIGN: readonly (readonly [
    source: string,
    pod: "file" | "http" | undefined,
    hasURL: boolean,
    reason: RegExp,
  ])[] = [
    ["a file", "file", false, /default\/web-node-1 already, and it comes from a file in \/etc\/manifests: change that/],
    ["staticPodURL", "http", true, /comes from staticPodURL/],
    ["the API server", undefined, false, /comes from the API server: .*kubectl/],
  ];
  for (const [source, annotation, hasURL, reason] of FOREIGN) {
    test(`a pod from ${source} is refused by name and reason`, () => {
      const [step] = planApply([written("web")], state({ pods: [running("web", annotation)], hasURL }), NONE);
      equal(step?.action, "refuse");
      match(step.reason ?? "", reason);
    });
  }

  test("a name whose pod is being terminated is free", () => {
    const pod = running("web", "file");
    deepEqual(actions([written("web")], state({ pods: [pod] }), new Set([pod.metadata.uid])), ["create"]);
    // Its manifest was deleted a moment ago.
    deepEqual(actions([written("web")], state({ pods: [running("web", "http")] }), NONE), ["create"]);
  });
});

describe("the pod that a name means", () => {
  const manifests = [kept("web"), kept("db", { namespace: "shop" })];
  const pods = [running("web", "http"), running("log", "file")];

  for (const name of ["web", "web-node-1", "default/web", "pod/web"]) {
    test(`${name} is the manifest web`, () => {
      const { manifest, pod } = targetOf("delete", name, undefined, state({ manifests, pods }));
      deepEqual([manifest?.name, pod?.metadata.name], ["web", "web-node-1"]);
    });
  }

  test("a manifest without a pod can be deleted", () => {
    const { manifest, pod } = targetOf("delete", "shop/db", undefined, state({ manifests, pods }));
    deepEqual([manifest?.name, pod], ["db", undefined]);
  });

  test("a pod from a file is refused with what does it there, but can be restarted", () => {
    throws(() => targetOf("delete", "log", undefined, state({ manifests, pods })), /remove that file/);
    const target = targetOf("restart", "log", undefined, state({ manifests, pods }));
    deepEqual([target.manifest, target.pod?.metadata.name], [undefined, "log-node-1"]);
    const ofApi = state({ pods: [running("of-api", undefined)] });
    throws(() => targetOf("restart", "of-api", undefined, ofApi), /its controller makes a new one/);
  });

  test("a name in two namespaces must be given with one", () => {
    const two = [kept("web"), kept("web", { namespace: "shop" })];
    throws(() => targetOf("delete", "web", undefined, state({ manifests: two })), /name of 2 manifests/);
    equal(targetOf("delete", "web", "shop", state({ manifests: two })).manifest?.namespace, "shop");
  });

  test("the kind before the names is left out, unless a pod has that name", () => {
    const kind = (...names: string[]) => withoutKind(names, state({ manifests, pods }));
    deepEqual(kind("pod", "web", "db"), ["web", "db"]);
    deepEqual(kind("pods", "web"), ["web"]);
    deepEqual(kind("pod"), ["pod"]);
    deepEqual(kind("web", "pod"), ["web", "pod"]);
    deepEqual(withoutKind(["pod", "web"], state({ manifests: [kept("pod")] })), ["pod", "web"]);
  });

  test("an unknown name is a failure of its own", () => {
    throws(() => targetOf("delete", "none", undefined, state({ manifests, pods })), NoPodError);
  });
});

test("a restart changes one annotation, and the others stay", () => {
  const marked = restarted({ metadata: { name: "web", annotations: { a: "1" } }, spec: {} }, "2026-01-02T03:04:05Z");
  deepEqual(marked.metadata["annotations"], { a: "1", [RESTARTED_AT]: "2026-01-02T03:04:05Z" });
  deepEqual(contentOf(marked).metadata, { name: "web", annotations: { a: "1" } });
});

test("diff shows a manifest that is new as added, and of a changed one the lines that differ", () => {
  const [created] = planApply([written("web")], state(), NONE);
  const [changed, same] = planApply(
    [written("web", { containers: [], hostNetwork: true }), written("db")],
    state({ manifests: [kept("web"), kept("db")] }),
    NONE,
  );
  match(
    created === undefined ? "" : diffOf(created),
    /^--- \/dev\/null\n\+\+\+ web\.yaml default\/web\n@@ -0,0 \+1,7 @@\n\+apiVersion: v1\n/,
  );
  equal(
    changed === undefined ? "" : diffOf(changed),
    [
      "--- node default/web",
      "+++ web.yaml default/web",
      "@@ -5,3 +5,4 @@",
      "   namespace: default",
      " spec:",
      "   containers: []",
      "+  hostNetwork: true",
      "",
    ].join("\n"),
  );
  equal(same === undefined ? "?" : diffOf(same), "");
});
