// A pod worker without a runtime: plans and does, against a model, until nothing is left to do.

import assert from "node:assert/strict";
import { CrashBackoff } from "../../src/main/model/crash-backoff.js";
import { newestOf } from "../../src/main/model/observed-containers.js";
import type { ProbeResult, ProbeResults } from "../../src/main/model/probe-results.js";
import { defaultRestartGates, type RestartGates } from "../../src/main/model/restart.js";
import type { Plan, Step } from "../../src/main/model/step.js";
import type { StartFailure } from "../../src/main/model/synced-pod.js";
import { planPod } from "../../src/main/pods/planner/plan.js";
import { RestartMemory } from "../../src/main/pods/planner/restart-memory.js";
import { steadyTime } from "../../src/shared/base/clock/moments.js";
import type { Pod } from "../../src/shared/kubernetes/api/pod.js";
import { ModelRuntime } from "./model-runtime.js";

type Verdicts = Map<string, ProbeResult>;

export class Pilot {
  readonly backoff = new CrashBackoff();
  readonly failures = new Map<string, StartFailure>();
  readonly memory = new RestartMemory();
  /** By container id. */
  readonly verdicts = {
    startup: new Map() as Verdicts,
    readiness: new Map() as Verdicts,
    liveness: new Map() as Verdicts,
  };
  readonly runtime: ModelRuntime;
  gates: RestartGates = defaultRestartGates;
  deadContainersKept = 1;
  /** Called before each step: what must never happen is checked here. */
  onStep: (step: Step) => void = () => undefined;

  constructor(public wanted: Pod) {
    this.runtime = new ModelRuntime(wanted);
  }

  plan(): Plan {
    const { observed, now } = this.runtime;
    this.memory.onObserved(observed);
    return planPod({
      pod: this.wanted,
      observed,
      now: steadyTime(now),
      backoff: this.backoff,
      startFailures: this.failures,
      probes: this.probes,
      gates: this.gates,
      memory: this.memory,
      deadContainersKept: this.deadContainersKept,
    });
  }

  get probes(): ProbeResults {
    const { startup, readiness, liveness } = this.verdicts;
    return {
      startup: (id) => startup.get(id),
      readiness: (id) => readiness.get(id),
      liveness: (id) => liveness.get(id),
    };
  }

  /** A probe of the newest container of that name speaks. */
  verdict(probe: keyof Pilot["verdicts"], container: string, result: ProbeResult): void {
    const status = newestOf(this.runtime.observed, container);
    assert.ok(status, `${container} was never made`);
    this.verdicts[probe].set(status.id, result);
  }

  do(step: Step): string {
    this.onStep(step);
    this.memory.record(step);
    this.runtime.apply(step);
    if ("backoff" in step && step.backoff !== undefined)
      this.backoff.next(step.backoff.key, step.backoff.finishedAt, steadyTime(this.runtime.now));
    return step.kind === "start-container" ? `start ${step.container.name}` : step.kind;
  }

  /** Returns the kinds of the steps done. */
  settle(limit = 50): string[] {
    const done: string[] = [];
    for (let i = 0; i < limit; i++) {
      const { steps, finished } = this.plan();
      assert.ok(!finished || !steps.some(({ kind }) => kind === "start-container"), "a finished pod starts something");
      if (steps.length === 0) return done;
      for (const step of steps) done.push(this.do(step));
    }
    assert.fail(`the plan does not converge: ${done.slice(-10).join(", ")}`);
  }
}
