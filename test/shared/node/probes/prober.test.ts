// The prober's schedule under virtual time, with runs that the test decides.
// @headline Probes and hooks | A late probe is late, not failed. | any load

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { ProbeRecord, ProbeSpec, ProbedPod } from "../../../../src/shared/contracts/prober.js";
import { podUid, containerIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import { probeMetrics, scheduleMetrics } from "../../../../src/shared/node/probes/metrics.js";
import { Prober } from "../../../../src/shared/node/probes/prober.js";
import {
  failure,
  ImpossibleProbeError,
  success,
  type RunAction,
  type RunResult,
} from "../../../../src/shared/node/probes/run.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const turn = async (): Promise<void> => {
  for (let count = 0; count < 5; count++) await new Promise((resolve) => setImmediate(resolve));
};

class World {
  readonly clock = new SteppedClock();
  readonly kept = keptLog();
  readonly own = new ThreadRegistry("prober");
  readonly perContainer = new ThreadRegistry("prober");
  readonly records: ProbeRecord[] = [];
  /** Start of each run, by container id and kind. */
  readonly begun = new Map<string, number[]>();
  random = 0;
  act: RunAction = () => Promise.resolve(success());
  readonly prober = new Prober({
    clock: this.clock,
    log: this.kept.log,
    userAgent: "test",
    runAction: (spec, context) => {
      const key = `${spec.containerId}/${spec.kind}`;
      this.begun.set(key, [...(this.begun.get(key) ?? []), this.clock.monotonic()]);
      return this.act(spec, context);
    },
    records: { push: (record) => void this.records.push(record) },
    probes: probeMetrics(this.perContainer),
    schedule: scheduleMetrics(this.own),
    random: () => this.random,
  });

  spec(more: Partial<ProbeSpec> = {}): ProbeSpec {
    return {
      containerId: containerIdOf("c1"),
      kind: "readiness",
      container: "app",
      generation: 1,
      action: { type: "tcp", host: "127.0.0.1", port: 1 },
      startedAt: 0,
      initialDelayMs: 0,
      periodMs: 1000,
      timeoutMs: 1000,
      successThreshold: 1,
      failureThreshold: 1,
      ...more,
    };
  }

  pod(...probes: ProbeSpec[]): ProbedPod {
    return { uid: podUid("u1"), namespace: "default", name: "web", probes };
  }

  /** Time passes in small steps, so that runs go on between. */
  async pass(ms: number, stepMs = 100): Promise<void> {
    this.clock.step(0);
    await turn();
    for (let left = ms; left > 0; left -= stepMs) {
      this.clock.step(Math.min(stepMs, left));
      await turn();
    }
  }

  times(key = "c1/readiness"): number[] {
    return this.begun.get(key) ?? [];
  }

  async value(name: string, labels: Record<string, string> = {}): Promise<number> {
    const families = [await this.own.exportSnapshot(), await this.perContainer.exportSnapshot()].flatMap(
      (snapshot) => snapshot.families,
    );
    const samples = families.find((family) => family.name === name)?.samples ?? [];
    const wanted = Object.entries(labels);
    return samples.find((sample) => wanted.every(([label, value]) => sample.labels[label] === value))?.value ?? 0;
  }
}

describe("when a probe runs", () => {
  test("first after its initial delay, counted from the container's start; then in every period", async () => {
    const world = new World();
    world.clock.step(2000);
    world.prober.setPods([world.pod(world.spec({ startedAt: 500, initialDelayMs: 4000, periodMs: 3000 }))]);
    await world.pass(12_000);
    assert.deepEqual(world.times(), [4500, 7500, 10_500, 13_500]);
    await world.prober.stop();
    assert.equal(world.clock.pending, 0);
  });

  test("a container that has run for longer than the delay is probed at once, with a small jitter", async () => {
    const world = new World();
    world.random = 0.5;
    world.clock.step(60_000);
    world.prober.setPods([world.pod(world.spec({ initialDelayMs: 5000, periodMs: 10_000 }))]);
    await world.pass(9_000, 50);
    assert.deepEqual(world.times(), [60_052]);
  });

  test("a probe with a known verdict continues at a random time within its period", async () => {
    const world = new World();
    world.random = 0.75;
    world.prober.setPods([world.pod(world.spec({ verdict: "Success", periodMs: 10_000 }))]);
    await world.pass(20_000);
    assert.deepEqual(world.times(), [7500, 17_500]);
  });

  test("a run that takes longer than its period is not doubled", async () => {
    const world = new World();
    let end: (result: RunResult) => void = () => undefined;
    world.act = () => new Promise((resolve) => (end = resolve));
    world.prober.setPods([world.pod(world.spec({ timeoutMs: 60_000 }))]);
    await world.pass(3500);
    assert.deepEqual(world.times(), [0]);
    assert.equal(await world.value("nodelet_probe_skipped_total", { reason: "overrun" }), 3);
    end(success());
    await world.pass(1000);
    assert.deepEqual(world.times(), [0, 4000]);
  });

  test("after a stop of the whole thread: late and counted, back in step, nothing made up for", async () => {
    const world = new World();
    world.prober.setPods([world.pod(world.spec({ failureThreshold: 3 }))]);
    await world.pass(1500);
    world.clock.freeze(3700); // the run due at 2000 begins at 5200
    await world.pass(1000);
    assert.deepEqual(world.times(), [0, 1000, 5200, 6000]);
    assert.equal(await world.value("nodelet_probe_late_total"), 1);
    assert.equal(await world.value("nodelet_probe_skipped_total", { reason: "held-up" }), 3);
    assert.ok(world.records.every(({ outcome }) => outcome === "success"));
  });

  test("property: due times are multiples of the period from the first on, and runs of one probe never overlap", async () => {
    const probe = fc.record({
      periodMs: fc.integer({ min: 1, max: 5 }),
      runs: fc.array(fc.nat(9000), { minLength: 1 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(probe, { minLength: 1, maxLength: 5 }), async (probes) => {
        const world = new World();
        const running = new Set<string>();
        world.act = async ({ containerId }) => {
          assert.ok(!running.has(containerId), "one run at a time");
          running.add(containerId);
          const { runs } = probes[Number(containerId)]!;
          await world.clock.sleep(runs[world.times(`${containerId}/readiness`).length % runs.length]!);
          running.delete(containerId);
          return success();
        };
        const specs = probes.map(({ periodMs }, index) =>
          world.spec({ containerId: containerIdOf(String(index)), periodMs: periodMs * 1000, timeoutMs: 60_000 }),
        );
        world.prober.setPods([world.pod(...specs)]);
        await world.pass(30_000, 500);
        for (const { containerId, periodMs } of specs) {
          const times = world.times(`${containerId}/readiness`);
          assert.ok(times.length > 0);
          for (const time of times) assert.equal(time % periodMs, 0, `${time} is in step with ${periodMs}`);
        }
        world.prober.apply({ set: [], gone: [podUid("u1")] });
        await world.pass(10_000, 5000);
        await world.prober.stop();
        assert.equal(world.clock.pending, 0);
      }),
      { numRuns: 15 },
    );
  });
});

describe("reports", () => {
  test("the first verdict, then changes, and every run that fails", async () => {
    const world = new World();
    const results = [success(), success(), failure("a"), failure("b"), success("fine"), success()];
    world.act = () => Promise.resolve(results.shift() ?? success());
    world.prober.setPods([world.pod(world.spec({ generation: 7, failureThreshold: 2 }))]);
    await world.pass(5500);
    const records = world.records.map(({ outcome, output, verdict }) => ({ outcome, output, verdict }));
    assert.deepEqual(records, [
      { outcome: "success", output: "", verdict: "Success" },
      { outcome: "failure", output: "a", verdict: undefined },
      { outcome: "failure", output: "b", verdict: "Failure" },
      { outcome: "success", output: "", verdict: "Success" },
    ]);
    assert.ok(
      world.records.every(
        ({ uid, containerId, kind, generation }) =>
          `${uid} ${containerId} ${kind} ${generation}` === "u1 c1 readiness 7",
      ),
    );
  });

  test("an error is tried three times, then reported, and changes nothing", async () => {
    const world = new World();
    let tries = 0;
    world.act = () => {
      tries++;
      return Promise.reject(new Error("the runtime is away"));
    };
    world.prober.setPods([world.pod(world.spec({ verdict: "Success" }))]);
    await world.pass(900);
    assert.equal(tries, 3);
    assert.deepEqual(
      world.records.map(({ outcome, output, verdict }) => [outcome, output, verdict]),
      [["error", "the runtime is away", undefined]],
    );
  });

  test("an error that passes is none", async () => {
    const world = new World();
    let tries = 0;
    world.act = () => (++tries < 3 ? Promise.reject(new Error("once")) : Promise.resolve(success()));
    world.prober.setPods([world.pod(world.spec())]);
    await world.pass(900);
    assert.deepEqual(
      world.records.map(({ verdict }) => verdict),
      ["Success"],
    );
  });

  test("an impossible probe is not tried again and again", async () => {
    const world = new World();
    let tries = 0;
    world.act = () => {
      tries++;
      return Promise.reject(new ImpossibleProbeError("no such port"));
    };
    world.prober.setPods([world.pod(world.spec())]);
    await world.pass(900);
    assert.equal(tries, 1);
    assert.equal(world.records[0]?.output, "no such port");
  });

  test("long texts are cut", async () => {
    const world = new World();
    world.act = () => Promise.reject(new Error("x".repeat(50_000)));
    world.prober.setPods([world.pod(world.spec())]);
    await world.pass(900);
    assert.equal(world.records[0]?.output.length, 10_240);
  });

  test("per container in numbers, until the pod is removed", async () => {
    const world = new World();
    const results = [success(), failure("no")];
    world.act = () => {
      const result = results.shift();
      return result === undefined ? Promise.reject(new Error("?")) : Promise.resolve(result);
    };
    world.prober.setPods([world.pod(world.spec())]);
    await world.pass(2500);
    const of = (result: string) => ({
      probe_type: "Readiness",
      result,
      container: "app",
      pod: "web",
      namespace: "default",
      pod_uid: "u1",
    });
    for (const result of ["successful", "failed", "unknown"]) {
      assert.equal(await world.value("prober_probe_total", of(result)), 1, result);
    }
    const durations = { probe_type: "Readiness", container: "app", pod: "web", namespace: "default" };
    assert.ok(
      (await world.value("prober_probe_duration_seconds", { ...durations, le: "+Inf" })) === 1,
      "successes only",
    );
    world.prober.apply({ set: [], gone: [podUid("u1")] });
    const left = (await world.perContainer.exportSnapshot()).families.flatMap(({ samples }) => samples);
    assert.deepEqual(
      left.filter(({ labels }) => "pod" in labels),
      [],
    );
  });
});

describe("the end of a probe", () => {
  for (const [kind, result, runs] of [
    ["startup", success(), 1],
    ["startup", failure("no"), 1],
    ["liveness", failure("no"), 1],
    ["liveness", success(), 4],
    ["readiness", failure("no"), 4],
  ] as const) {
    test(`${kind} ${result.outcome}: ${runs === 1 ? "asked no more" : "goes on"}`, async () => {
      const world = new World();
      world.act = () => Promise.resolve(result);
      world.prober.setPods([world.pod(world.spec({ kind }))]);
      await world.pass(3500);
      assert.equal(world.times(`c1/${kind}`).length, runs);
    });
  }

  test("removed while it runs: aborted, without a report", async () => {
    const world = new World();
    let signal: AbortSignal | undefined;
    world.act = (_spec, { deadline }) => {
      signal = deadline.signal;
      return new Promise((resolve) => signal?.addEventListener("abort", () => resolve(failure("called off"))));
    };
    world.prober.setPods([world.pod(world.spec())]);
    await world.pass(100);
    world.prober.apply({ set: [world.pod()], gone: [] });
    await turn();
    assert.equal(signal?.aborted, true);
    assert.deepEqual(world.records, []);
    await world.pass(5000);
    assert.equal(world.times().length, 1);
    assert.equal(world.clock.pending, 0);
  });

  test("the same generation keeps its schedule; another one starts again", async () => {
    const world = new World();
    world.prober.setPods([world.pod(world.spec())]);
    await world.pass(1500);
    world.prober.apply({ set: [world.pod(world.spec(), world.spec({ kind: "liveness" }))], gone: [] });
    await world.pass(1000);
    assert.deepEqual(world.times(), [0, 1000, 2000]);
    assert.deepEqual(world.times("c1/liveness"), [1500, 2500]);
    world.prober.apply({ set: [world.pod(world.spec({ generation: 2 }))], gone: [] });
    await world.pass(1000);
    assert.deepEqual(world.times(), [0, 1000, 2000, 2500, 3500]);
  });

  test("a full set removes probes that are not in it", async () => {
    const world = new World();
    world.prober.setPods([
      world.pod(world.spec()),
      { ...world.pod(world.spec({ containerId: containerIdOf("c2") })), uid: podUid("u2") },
    ]);
    await world.pass(500);
    world.prober.setPods([world.pod(world.spec())]);
    await world.pass(2000);
    assert.equal(world.times("c2/readiness").length, 1);
    assert.equal(world.times().length, 3);
  });
});

test("commands: at most 16 at once; one that waits is late, not failed, and is dropped when removed", async () => {
  const world = new World();
  const running = new Set<() => void>();
  let most = 0;
  world.act = () =>
    new Promise((resolve) => {
      const end = (): void => {
        running.delete(end);
        resolve(success());
      };
      running.add(end);
      most = Math.max(most, running.size);
    });
  const specs = Array.from({ length: 40 }, (_, index) =>
    world.spec({
      containerId: containerIdOf(`c${index}`),
      periodMs: 60_000,
      action: { type: "exec", command: ["true"] },
    }),
  );
  const pods = (count: number): ProbedPod[] => [
    world.pod(...specs.slice(0, count / 2)),
    { ...world.pod(...specs.slice(20, 20 + count / 2)), uid: podUid("u2") },
  ];
  world.prober.setPods(pods(40));
  await world.pass(400);
  assert.equal(running.size, 16);
  world.prober.apply({ set: pods(30), gone: [] });
  for (let round = 0; round < 5; round++) {
    for (const end of running) end();
    await turn();
  }
  assert.equal(most, 16);
  assert.equal(world.records.length, 30);
  assert.ok(world.records.every(({ verdict }) => verdict === "Success"));
  assert.equal(world.records.filter(({ lateMs }) => lateMs >= 400).length, 14);
  await world.prober.stop();
});

describe("pods whose probes sleep", () => {
  const exec: ProbeSpec["action"] = { type: "exec", command: ["sleep", "inf"] };
  const sleep: RunAction = (_spec, { deadline: { signal } }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("called off")), { once: true });
    });
  const sleepers = (world: World, uid: string): ProbedPod => {
    const specs = Array.from({ length: 40 }, (_, index) =>
      world.spec({ containerId: containerIdOf(`${uid}-${index}`), timeoutMs: 3_600_000, action: exec }),
    );
    return { ...world.pod(...specs), uid: podUid(uid) };
  };

  test("do not keep another pod's probe of a second's period from its turn", async () => {
    const world = new World();
    world.act = (spec, context) => (spec.containerId === "quick" ? Promise.resolve(success()) : sleep(spec, context));
    const pods = Array.from({ length: 20 }, (_, index) => sleepers(world, `u${index}`));
    world.prober.setPods([
      ...pods,
      { ...world.pod(world.spec({ containerId: containerIdOf("quick"), action: exec })), uid: podUid("quick") },
    ]);
    await world.pass(60_000);
    const times = world.times("quick/readiness");
    const gaps = times.slice(1).map((time, index) => time - times[index]!);
    assert.ok(times.length >= 50, `${times.length} runs in 60 s`);
    // The first turns go to 160 sleepers, 16 in each half of a second.
    assert.ok(Math.max(times[0]!, ...gaps.slice(5)) <= 1500, `gaps ${gaps.join(" ")}`);
    assert.deepEqual(new Set(gaps.slice(-40)), new Set([1000]));
    await world.prober.stop();
  });

  test("make their own probes wait: these are reported as errors, never as failures", async () => {
    const world = new World();
    world.act = sleep;
    world.prober.setPods([sleepers(world, "u1")]);
    await world.pass(9_000, 1000);
    assert.equal(world.records.length, 0);
    await world.pass(30_000, 1000);
    assert.equal(world.records.length, 32);
    for (const { outcome, output, verdict } of world.records) {
      assert.equal(outcome, "error");
      assert.equal(verdict, undefined);
      assert.match(
        output,
        /^the probe has waited 10s for its turn: 8 other exec probes of this pod are still running$/,
      );
    }
    assert.equal(await world.value("prober_probe_total", { result: "failed" }), 0);
    await world.prober.stop();
    assert.equal(world.clock.pending, 0);
  });
});

test("an error in one pod's probes keeps no other pod's probes from running", async () => {
  const world = new World();
  const spec = world.spec();
  const broken = { ...world.pod(spec), uid: podUid("u0") };
  Object.defineProperty(broken, "probes", {
    get: () => {
      throw new Error("a defect");
    },
  });
  world.prober.setPods([broken, world.pod(spec)]);
  await world.pass(1000);
  assert.ok(world.times().length > 0);
  world.prober.apply({
    set: [broken, { ...world.pod(world.spec({ containerId: containerIdOf("c2") })), uid: podUid("u2") }],
    gone: [],
  });
  await world.pass(1000);
  assert.ok(world.times("c2/readiness").length > 0);
  assert.equal(world.kept.errors().length, 2);
  await world.prober.stop();
});
