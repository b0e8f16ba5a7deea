// The list of --dynamic-config-sources, as a table.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isAllowedSource,
  isConfigSourceEntry,
  notAllowedText,
} from "../../../../src/shared/kubernetes/api/allowed-config-sources.js";

const ALLOWED: [entry: string, namespace: string, name: string, allowed: boolean][] = [
  ["kube-system/workers", "kube-system", "workers", true],
  ["kube-system/workers", "kube-system", "workers-2", false],
  ["kube-system/workers", "dev", "workers", false],
  ["kube-system/workers-*", "kube-system", "workers-2", true],
  ["kube-system/workers-*", "kube-system", "workers-", true],
  ["kube-system/workers-*", "kube-system", "workers", false],
  ["kube-system/workers-*", "kube-system2", "workers-2", false],
  ["a/b", "a", "b", true],
];

test("an entry allows its name, or names that begin with it, in its namespace alone", () => {
  for (const [entry, namespace, name, allowed] of ALLOWED) {
    assert.equal(isAllowedSource([entry], { namespace, name }), allowed, `${entry} and ${namespace}/${name}`);
  }
  assert.equal(isAllowedSource([], { namespace: "kube-system", name: "nodelet-config" }), false);
});

test("an entry is a namespace and a name, with a * at the end at most", () => {
  for (const good of ["a/b", "kube-system/nodelet-config", "kube-system/pool.a-*", "kube-system/w*"]) {
    assert.equal(isConfigSourceEntry(good), true, good);
  }
  const bad = [
    "",
    "a",
    "a/",
    "/b",
    "a/*",
    "*/b",
    "a*/b",
    "a/b*c",
    "a/b/c",
    "A/b",
    "a/B",
    "a/-b",
    "a/b-",
    "a/b ",
    "a/b**",
  ];
  for (const entry of bad) assert.equal(isConfigSourceEntry(entry), false, entry);
});

test("the refusal names the ConfigMap, the flag and its value", () => {
  const evil = { namespace: "dev", name: "evil" };
  assert.equal(
    notAllowedText(["a/b", "a/c*"], evil),
    "ConfigMap dev/evil is refused: --dynamic-config-sources of this kubelet allows a/b, a/c*",
  );
  assert.match(notAllowedText([], evil), /allows no ConfigMap$/);
});
