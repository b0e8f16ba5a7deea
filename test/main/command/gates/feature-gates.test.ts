// Every row of feature-gates.tsv against the table, and the effect of setting it.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { resolveGates } from "../../../../src/main/command/gates/feature-gates.js";
import { LATER_GATES } from "../../../../src/main/command/gates/later-gates.js";
import { GATES, type Gate, type GateName } from "../../../../src/main/command/gates/table.js";
import { facts } from "../../../support/facts.js";

const rows = facts("feature-gates");
const TABLE: Readonly<Record<string, Gate>> = GATES;
const WHOLE = ["AllAlpha", "AllBeta"];

/** `name` set to `on`, and every gate that needs to follow, so that only the gate itself is judged. */
function setting(name: string, on: boolean): Record<string, boolean> {
  const given: Record<string, boolean> = { [name]: on };
  const follow = (gate: string): void => {
    const related = on
      ? (TABLE[gate]?.dependsOn ?? [])
      : Object.keys(GATES).filter((other) => TABLE[other]?.dependsOn.includes(gate));
    for (const next of related) {
      if (TABLE[next]?.locked === true || given[next] !== undefined) continue;
      given[next] = on;
      follow(next);
    }
  };
  follow(name);
  return given;
}

test("the table has the rows of the facts, no more and no fewer", () => {
  ok(rows.length > 200);
  deepEqual(
    Object.keys(GATES),
    rows.map((row) => row["name"]),
  );
});

for (const row of rows) {
  const name = row["name"] as GateName;
  const on = row["default"] === "true";
  describe(name, () => {
    const gate = TABLE[name]!;
    test("default, stage, lock and dependencies", () => {
      equal(gate.default, on);
      equal(gate.stage, row["stage"]);
      equal(gate.locked, row["locked"] === "yes");
      deepEqual(
        gate.dependsOn,
        (row["dependsOn"] ?? "").split(",").filter((needed) => needed !== ""),
      );
      equal(resolveGates({}).gates.enabled(name), on);
    });
    test("set to its default", () => {
      const { gates, violations, notices } = resolveGates({ [name]: on });
      deepEqual(violations, []);
      equal(gates.enabled(name), on);
      equal(notices.length, gate.stage === "GA" || gate.stage === "DEPRECATED" ? 1 : 0);
      for (const notice of notices) ok(notice.includes(name));
    });
    test(gate.locked ? "locked" : "set away from its default", () => {
      const { gates, violations } = resolveGates(setting(name, !on));
      const own = violations.filter(({ path }) => path === `featureGates[${name}]`);
      equal(gates.enabled(name), gate.locked ? on : !on);
      if (gate.locked) match(own[0]?.message ?? "", new RegExp(`${name} is locked to ${on}`));
      else if (!WHOLE.includes(name)) deepEqual(violations, []);
    });
    for (const needed of gate.dependsOn) {
      test(`needs ${needed}`, () => {
        ok(Object.hasOwn(GATES, needed), "a gate of the table");
        if (TABLE[needed]?.locked === true) return;
        const { violations } = resolveGates({ [name]: true, [needed]: false });
        const own = violations.find(({ path }) => path === `featureGates[${name}]`);
        match(own?.message ?? "", new RegExp(`^${name} requires .*${needed}`));
      });
    }
  });
}

for (const name of LATER_GATES) {
  test(`${name} is refused as a gate of the next version`, () => {
    const [violation, ...others] = resolveGates({ [name]: false }).violations;
    deepEqual(others, []);
    equal(violation?.path, `featureGates[${name}]`);
    match(violation.message, new RegExp(`^${name} is a feature gate of Kubernetes 1\\.37, and this kubelet`));
  });
}

describe("whole stages", () => {
  const ofStage = (stage: string): GateName[] =>
    (Object.keys(GATES) as GateName[]).filter((name) => TABLE[name]?.stage === stage && !WHOLE.includes(name));

  for (const [all, stage] of [
    ["AllAlpha", "ALPHA"],
    ["AllBeta", "BETA"],
  ] as const) {
    for (const on of [true, false]) {
      test(`${all}=${on}`, () => {
        const { gates, violations } = resolveGates({ [all]: on });
        deepEqual(violations, []);
        for (const name of ofStage(stage)) equal(gates.enabled(name), on, name);
        for (const [name, state, its] of gates.entries()) {
          if (its !== stage && !WHOLE.includes(name)) equal(state, GATES[name].default, name);
        }
      });
    }
  }
  test("a gate that is named goes before its stage", () => {
    const { gates } = resolveGates({ AllAlpha: true, EventedPLEG: false, AllBeta: false, NodeDeclaredFeatures: true });
    equal(gates.enabled("EventedPLEG"), false);
    equal(gates.enabled("CRIListStreaming"), true);
    equal(gates.enabled("NodeDeclaredFeatures"), true);
    equal(gates.enabled("ContextualLogging"), false);
  });
  test("alpha gates that need a beta gate are refused when beta is off", () => {
    const { violations } = resolveGates({ AllAlpha: true, AllBeta: false });
    const refused = violations.find(({ path }) => path === "featureGates[PodLevelResourceManagers]");
    match(refused?.message ?? "", /\(on, but not set explicitly\) requires PodLevelResources, which is off/);
  });
});

test("a refused gate keeps its default, and all are refused at once", () => {
  const { gates, violations } = resolveGates({ NodeSwap: false, Foo: true, GitRepoVolumeDriver: true });
  equal(gates.enabled("NodeSwap"), true);
  equal(gates.enabled("GitRepoVolumeDriver"), false);
  deepEqual(
    violations.map(({ path }) => path),
    ["featureGates[NodeSwap]", "featureGates[Foo]", "featureGates[GitRepoVolumeDriver]"],
  );
});

test("every accepted set of gates is consistent", () => {
  const name = fc.constantFrom(...(Object.keys(GATES) as GateName[]));
  fc.assert(
    fc.property(fc.dictionary(name, fc.boolean(), { maxKeys: 6 }), (given) => {
      const { gates, violations } = resolveGates(given);
      if (violations.length > 0) return;
      for (const [gate, on] of Object.entries(given)) equal(gates.enabled(gate as GateName), on);
      for (const [gate, on] of gates.entries()) {
        for (const needed of on ? TABLE[gate]!.dependsOn : [])
          ok(gates.enabled(needed as GateName), `${gate} ${needed}`);
      }
    }),
    { numRuns: 300 },
  );
});
