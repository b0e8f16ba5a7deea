// Failures of probes and the stops that follow from them, as `nodelet why` needs them.

import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import { decodeKills, ProbeKills } from "../../../../src/main/pods/probes/probe-kills.js";
import type { ProbeRecord } from "../../../../src/shared/contracts/prober.js";
import { podUid, containerIdOf } from "../../../../src/shared/kubernetes/identifiers.js";

const MINUTE = 60_000;

function record(fields: Partial<ProbeRecord> = {}): ProbeRecord {
  const what = {
    uid: podUid("u"),
    containerId: containerIdOf("c1"),
    kind: "liveness",
    generation: 1,
    outcome: "failure",
  } as const;
  return { ...what, output: "404", inARow: 1, lateMs: 0, at: 1000, ...fields };
}

/** Three failures in a row of one container. */
function fails(kills: ProbeKills, at: number, containerId = "c1", outputs = ["404", "404", "404"]): void {
  for (const [index, output] of outputs.entries()) {
    const last = index === outputs.length - 1;
    kills.onRecord(
      record({
        containerId: containerIdOf(containerId),
        output,
        inARow: index + 1,
        at: at + index,
        ...(last && { verdict: "Failure" }),
      }),
      "app",
    );
  }
}

describe("stops by probes", () => {
  test("failures before the verdict are failing probes, with their answers counted", () => {
    const kills = new ProbeKills();
    equal(kills.onRecord(record(), "app"), false);
    equal(kills.onRecord(record({ inARow: 2, at: 2000 }), "app"), false);
    const answers = [{ text: "404", count: 2 }];
    const failing = { container: "app", probe: "liveness", containerId: "c1", lastAt: 2000, inARow: 2, answers };
    deepEqual(kills.of(podUid("u")), { probeKills: [], probesFailing: [failing] });
  });

  test("the verdict Failure is a stop; the next ones are counted until the back-off would be reset", () => {
    const kills = new ProbeKills();
    fails(kills, 0);
    fails(kills, 5 * MINUTE, "c2", ["500", "404", "404"]);
    const [kill] = kills.of(podUid("u")).probeKills;
    equal(kill?.kills, 2);
    equal(kill.inARow, 3);
    equal(kill.containerId, "c2");
    deepEqual(kill.answers, [
      { text: "500", count: 1 },
      { text: "404", count: 2 },
    ]);
    deepEqual(kills.of(podUid("u")).probesFailing, []);
    fails(kills, 20 * MINUTE, "c3");
    equal(kills.of(podUid("u")).probeKills[0]?.kills, 1);
  });

  test("a success, another container and another row begin anew", () => {
    const kills = new ProbeKills();
    kills.onRecord(record(), "app");
    kills.onRecord(record({ outcome: "success", verdict: "Success", inARow: 1 }), "app");
    deepEqual(kills.of(podUid("u")).probesFailing, []);
    kills.onRecord(record({ output: "old" }), "app");
    kills.onRecord(record({ output: "new", inARow: 1 }), "app");
    deepEqual(kills.of(podUid("u")).probesFailing[0]?.answers, [{ text: "new", count: 1 }]);
  });

  test("readiness stops nothing, and is not kept", () => {
    const kills = new ProbeKills();
    equal(kills.onRecord(record({ kind: "readiness", verdict: "Failure" }), "app"), false);
    deepEqual(kills.uids(), []);
  });

  test("answers are bounded in number and length", () => {
    const kills = new ProbeKills();
    for (let at = 1; at < 100; at++) kills.onRecord(record({ output: `${at}${"x".repeat(9000)}`, inARow: at }), "app");
    const { answers = [] } = kills.of(podUid("u")).probesFailing[0] ?? {};
    equal(answers.length, 3);
    ok(answers.every(({ text }) => text.length <= 512));
  });

  test("stops come back from the disk, garbage does not, and a removed pod leaves nothing", () => {
    const kills = new ProbeKills();
    fails(kills, 0);
    const next = new ProbeKills();
    next.fromDisk(decodeKills(JSON.parse(JSON.stringify(kills.toDisk()))));
    deepEqual(next.of(podUid("u")), kills.of(podUid("u")));
    for (const garbage of [
      { u: {} },
      { u: [1] },
      { u: [{ container: "app" }] },
      { u: [{ ...kills.of(podUid("u")).probeKills[0], answers: [1] }] },
    ]) {
      throws(() => decodeKills(garbage), /stops by probes that are none/);
    }
    equal(next.forget(podUid("u")), true);
    equal(next.forget(podUid("u")), false);
    deepEqual(next.toDisk(), {});
  });
});
