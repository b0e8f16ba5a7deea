// Every row of upstream's flags against our tables: name, shorthand, type, default, mirrored field, deprecation, one
// good and one bad value; and for flags that are gone, the answer they get.
// @headline Configuration and manifests | Flags, fields and gates are upstream's. | every row
// @promise Configuration and manifests: Every row of upstream's flags, fields, feature gates and validation rules:
//   name, default, type, one valid and one invalid value.
// @with test/facts

import { deepEqual, equal, match, notEqual, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { readCommandLine } from "../../../../src/main/command/command-line.js";
import { FIELDS, type FieldPath } from "../../../../src/main/command/fields/fields.js";
import type { FlagKind } from "../../../../src/main/command/flags/kinds.js";
import { readValue, typeOf, writeValue } from "../../../../src/main/command/flags/kinds.js";
import { REMOVED_FLAGS } from "../../../../src/main/command/flags/removed.js";
import { flagsOf } from "../../../../src/main/command/flags/table.js";
import { facts } from "../../../support/facts.js";

interface Sample {
  /** Upstream's name of the type. */
  readonly upstream: string;
  readonly good: string;
  /** undefined: any text is fine, only no text at all is wrong. */
  readonly bad: string | undefined;
}

const OF_KIND: Partial<Record<FlagKind, Sample>> = {
  ip: { upstream: "ip", good: "10.0.0.1", bad: "10.0.0" },
  bool: { upstream: "bool", good: "true", bad: "yes" },
  int32: { upstream: "int32", good: "7", bad: "2147483648" },
  port: { upstream: "int32", good: "8080", bad: "65536" },
  level: { upstream: "int32", good: "4", bad: "-1" },
  int64: { upstream: "int64", good: "4294967296", bad: "9223372036854775808" },
  duration: { upstream: "duration", good: "1h2m3.5s", bad: "5" },
  quantity: { upstream: "quantity", good: "4Mi", bad: "4 MB" },
  string: { upstream: "string", good: "some text", bad: undefined },
  nodeIPs: { upstream: "string", good: "10.0.0.1,fd00::1", bad: undefined },
  strings: { upstream: "stringSlice", good: "a,b", bad: '"a' },
  stringMap: { upstream: "mapStringString", good: "a=1,b=2", bad: "a" },
  labels: { upstream: "mapStringString", good: "a=1,b=2", bad: undefined },
  onePair: { upstream: "mapStringString", good: "a=1", bad: "a" },
  thresholds: { upstream: "mapStringString", good: "memory.available<100Mi,nodefs.available<5%", bad: "a=1" },
  boolMap: { upstream: "mapStringBool", good: "A=true", bad: "A=maybe" },
  headerMap: { upstream: "multimapStringString", good: "a:1,a:2", bad: "a" },
  taints: { upstream: "taintList", good: "a=b:NoSchedule", bad: "a=b" },
  reservedMemory: { upstream: "reservedMemory", good: "0:memory=1Gi", bad: "0" },
  vmodule: { upstream: "moduleSpec", good: "a=1", bad: "a" },
  configMaps: { upstream: "stringSlice", good: "a/b,a/c-*", bad: "a/*" },
  manifestAPI: { upstream: "bool", good: "socket", bad: "port" },
  version: { upstream: "version", good: "false", bad: "maybe" },
};

const OWN = [
  ...["print-config", "check-config", "dynamic-config-dir", "dynamic-config-sources"],
  ...["admin-socket", "admin-socket-group", "status-page", "status-page-port", "read-only-pods", "manifest-api"],
  ...["cri-channel", "api-server-port", "api-server-address"],
];
/** Removed upstream with dockershim; they have their meaning of Kubernetes 1.23 here (docs/docker.md). */
const REVIVED = [
  ...["container-runtime", "experimental-dockershim", "docker-endpoint", "image-pull-progress-deadline"],
  ...["pod-infra-container-image", "network-plugin", "cni-bin-dir", "cni-conf-dir", "cni-cache-dir"],
];
const rows = facts("flags");
const current = rows.filter(({ versions }) => versions?.startsWith("current"));
const removed = rows.filter(
  ({ versions, flag = "" }) => !versions?.startsWith("current") && ![...REVIVED, "dynamic-config-dir"].includes(flag),
);
const known = flagsOf("win32").byName;

test("the tables hold upstream's flags, ours, and no others", () => {
  deepEqual([...known.keys()].sort(), [...current.map((row) => row["flag"] ?? ""), ...OWN, ...REVIVED].sort());
  deepEqual(Object.keys(REMOVED_FLAGS).sort(), removed.map((row) => row["flag"] ?? "").sort());
  ok(current.length > 120 && removed.length > 55);
});

describe("current flags", () => {
  for (const row of current) {
    const name = row["flag"] ?? "";
    test(name, () => {
      const flag = known.get(name);
      ok(flag !== undefined);
      const sample = OF_KIND[flag.kind];
      ok(sample !== undefined, flag.kind);
      equal(flag.short ?? "", row["shorthand"]);
      equal(sample.upstream, row["type"]);
      equal(flag.default, row["default"]);
      equal(flag.field ?? "", row["configField"]);
      equal(flag.deprecated === undefined ? "no" : "yes", row["deprecated"]);
      if (flag.default !== "") equal(writeValue(flag.kind, readValue(flag.kind, flag.default)), flag.default);

      const good = readCommandLine([`--${name}=${sample.good}`], "win32");
      deepEqual(good.problems, []);
      if (name !== "help" && name !== "version") {
        equal(writeValue(flag.kind, good.given.get(name)?.value), sample.good);
        deepEqual([...good.given.keys()], [name]);
      }
      deepEqual(good.deprecations.length, flag.deprecated === undefined ? 0 : 1);

      const bad = readCommandLine([sample.bad === undefined ? `--${name}` : `--${name}=${sample.bad}`], "win32");
      equal(bad.problems.length, 1);
      ok(bad.problems[0]?.startsWith(name.length === 1 ? `-${name}` : `--${name}`));
      match(bad.problems[0] ?? "", sample.bad === undefined ? / needs a value: / : / is not /);
      deepEqual([...bad.given.keys()], []);
    });
  }
});

describe("fields", () => {
  const mirrored = [...known].filter(([, flag]) => flag.field !== undefined);
  test("flags and fields name each other", () => {
    const byField = Object.entries(FIELDS).flatMap(([path, field]) =>
      "flag" in field ? [`${path} --${field.flag}`] : [],
    );
    deepEqual(mirrored.map(([name, flag]) => `${flag.field} --${name}`).sort(), byField.sort());
  });
  for (const [name, flag] of mirrored) {
    test(`--${name} decodes to the value type of its field`, () => {
      const field = FIELDS[flag.field as FieldPath];
      const type = field.type === "durationOrNanos" ? "duration" : field.type;
      equal(typeOf(flag.kind), type);
    });
  }
});

describe("removed flags", () => {
  for (const row of removed) {
    const name = row["flag"] ?? "";
    test(name, () => {
      const last = /\.\.(~?)1\.(\d+)$/.exec(row["versions"] ?? "");
      const since = `was removed ${last?.[1] === "~" ? "around" : "in"} Kubernetes 1.${Number(last?.[2]) + 1}: `;
      equal(REMOVED_FLAGS[name]?.bool === true ? "bool" : "value", row["type"] === "bool" ? "bool" : "value");
      const argv = row["type"] === "bool" ? [`--${name}`] : [`--${name}`, "value"];
      const [problem = "", ...more] = readCommandLine(argv).problems;
      deepEqual(more, []);
      ok(problem.startsWith(`--${name} ${since}`), problem);
      notEqual(problem.split(since)[1]?.length ?? 0, 0);
      const noted = /removed (1\.\d+)/.exec(row["note"] ?? "");
      if (noted !== null) ok(problem.includes(`Kubernetes ${noted[1]}:`), problem);
    });
  }

  test("flags that an answer points to are known", () => {
    const named = Object.values(REMOVED_FLAGS).flatMap(({ advice }) => advice.match(/(?<=--)[a-z][a-z-]+/g) ?? []);
    ok(named.length > 10);
    deepEqual(
      named.filter((name) => !known.has(name)),
      [],
    );
  });
});
