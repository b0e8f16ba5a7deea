import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { graceSeconds } from "../../../../src/main/model/container-stop.js";
import type { Step } from "../../../../src/main/model/step.js";
import { effectiveGraceSeconds, planTermination } from "../../../../src/main/pods/planner/plan-termination.js";
import { LONGEST_SECONDS } from "../../../../src/shared/base/clock/durations.js";
import { steadyTime, later } from "../../../../src/shared/base/clock/moments.js";
import type { Container, RestartPolicy } from "../../../../src/shared/kubernetes/api/pod.js";
import { ContainerState, PodSandboxState } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { Pilot } from "../../../support/pilot.js";
import { container, pod } from "../../../support/pods.js";

describe("planPod", () => {
  it("makes the sandbox first, then starts containers in the order of the spec", () => {
    const pilot = new Pilot(pod({ containers: [container("b"), container("a")] }));
    assert.deepEqual(pilot.settle(), ["create-sandbox", "start b", "start a"]);
    assert.deepEqual(pilot.runtime.running(), ["a", "b"]);
  });

  const restarts: [RestartPolicy, number, boolean][] = [
    ["Always", 0, true],
    ["Always", 1, true],
    ["OnFailure", 0, false],
    ["OnFailure", 1, true],
    ["Never", 0, false],
    ["Never", 1, false],
  ];
  for (const [restartPolicy, code, restarted] of restarts) {
    it(`restartPolicy ${restartPolicy}, exit ${code}: ${restarted ? "restarts" : "ends the pod"}`, () => {
      const pilot = new Pilot(pod({ restartPolicy }));
      pilot.settle();
      pilot.runtime.exit("app", code);
      const done = pilot.settle();
      assert.deepEqual(done, restarted ? ["start app"] : ["stop-sandbox"]);
      assert.equal(pilot.plan().finished, !restarted);
    });
  }

  it("waits in CrashLoopBackOff from the second restart on and says until when", () => {
    const pilot = new Pilot(pod());
    pilot.settle();
    pilot.runtime.exit("app", 1);
    assert.deepEqual(pilot.settle(), ["start app"]);
    pilot.runtime.exit("app", 1);
    const exitedAt = pilot.runtime.now;
    assert.deepEqual(pilot.settle(), ["remove-container"], "of two dead ones the older goes");
    const plan = pilot.plan();
    assert.equal(plan.waiting.get("app")?.reason, "CrashLoopBackOff");
    assert.match(
      plan.waiting.get("app")?.message ?? "",
      /^back-off 10s restarting failed container=app pod=web_default/,
    );
    assert.equal(plan.wakeAt, exitedAt + 10_000);
    pilot.runtime.now += 10_001;
    assert.deepEqual(pilot.settle(), ["start app"]);
  });

  it("restarts only the container whose image changed", () => {
    const pilot = new Pilot(pod({ containers: [container("a"), container("b")] }));
    pilot.settle();
    pilot.wanted = pod({ containers: [container("a"), container("b", { image: "other:2" })] });
    assert.deepEqual(pilot.settle(), ["kill-container", "start b"]);
    assert.deepEqual(pilot.runtime.running(), ["a", "b"]);
  });

  it("stops a container that was taken out of the definition, and only that", () => {
    const pilot = new Pilot(pod({ containers: [container("a"), container("b")] }));
    pilot.settle();
    pilot.wanted = pod({ containers: [container("a")] });
    assert.deepEqual(pilot.settle(), ["kill-container"]);
    assert.deepEqual(pilot.runtime.running(), ["a"]);
  });

  it("replaces a dead sandbox and everything in it, keeping restart counts", () => {
    const pilot = new Pilot(pod());
    pilot.settle();
    pilot.runtime.observed.sandboxes[0]!.state = PodSandboxState.SANDBOX_NOTREADY;
    assert.deepEqual(pilot.settle(), ["kill-container", "create-sandbox", "start app"]);
    assert.equal(pilot.runtime.observed.sandboxes[0]?.metadata?.attempt, 1);
    const newest = pilot.runtime.observed.containers[0];
    assert.equal(newest?.annotations["io.kubernetes.container.restartCount"], "1");
  });

  it("stops one of two ready sandboxes by making a new one", () => {
    const pilot = new Pilot(pod());
    pilot.settle();
    pilot.runtime.apply({ kind: "create-sandbox", attempt: 1, reason: "a second agent" });
    pilot.settle();
    const ready = pilot.runtime.observed.sandboxes.filter((one) => one.state === PodSandboxState.SANDBOX_READY);
    assert.equal(ready.length, 1);
    assert.deepEqual(pilot.runtime.running(), ["app"]);
  });

  it("does not start a container again before its failure's retry time", () => {
    const pilot = new Pilot(pod());
    pilot.runtime.apply({ kind: "create-sandbox", attempt: 0, reason: "" });
    const retryAt = pilot.runtime.now + 5000;
    pilot.failures.set("app", {
      reason: "ErrImagePull",
      message: "no",
      failedAt: steadyTime(pilot.runtime.now),
      retryAt: steadyTime(retryAt),
    });
    const image = pod().spec.containers[0]?.image ?? "";
    // The error is shown for a second, then its back-off. So the plan has to come back for that.
    assert.equal(pilot.plan().wakeAt, pilot.runtime.now + 1000);
    assert.deepEqual(pilot.plan().waiting.get("app"), { reason: "ErrImagePull", message: "no" });
    pilot.runtime.now += 1000;
    assert.deepEqual(pilot.plan().waiting.get("app"), {
      reason: "ImagePullBackOff",
      message: `Back-off pulling image "${image}": ErrImagePull: no`,
    });
    assert.equal(pilot.plan().wakeAt, retryAt);
    pilot.runtime.now = retryAt;
    assert.deepEqual(pilot.settle(), ["start app"]);
  });

  it("keeps the configured number of exited containers of a name, at least one", () => {
    for (const [kept, left] of [
      [3, 3],
      [0, 1],
      [-1, 5],
    ] as const) {
      const pilot = new Pilot(pod());
      pilot.deadContainersKept = kept;
      for (let run = 0; run < 5; run++) {
        pilot.settle();
        pilot.runtime.exit("app", 1);
        pilot.runtime.now += 600_000;
      }
      pilot
        .plan()
        .steps.filter(({ kind }) => kind === "remove-container")
        .forEach((step) => pilot.runtime.apply(step));
      assert.equal(pilot.runtime.observed.containers.length, left);
    }
  });

  it("replaces a container that was created but never started, with the same restart count plus one", () => {
    const pilot = new Pilot(pod());
    pilot.settle();
    const status = pilot.runtime.observed.containers[0]!;
    status.state = ContainerState.CONTAINER_CREATED;
    status.startedAt = 0n;
    assert.deepEqual(pilot.settle(), ["start app", "remove-container"]);
    assert.deepEqual(pilot.runtime.running(), ["app"]);
  });

  describe("init containers", () => {
    const inits = (...names: string[]): Container[] => names.map((name) => container(name));
    it("run one after the other, each once", () => {
      const pilot = new Pilot(pod({ initContainers: inits("one", "two") }));
      assert.deepEqual(pilot.settle(), ["create-sandbox", "start one"]);
      pilot.runtime.exit("one", 0);
      assert.deepEqual(pilot.settle(), ["start two"]);
      pilot.runtime.exit("two", 0);
      assert.deepEqual(pilot.settle(), ["start app"]);
      pilot.runtime.exit("app", 1);
      assert.deepEqual(pilot.settle(), ["start app"]);
    });
    it("run again in a new sandbox", () => {
      const pilot = new Pilot(pod({ initContainers: inits("one") }));
      pilot.settle();
      pilot.runtime.exit("one", 0);
      pilot.settle();
      pilot.runtime.observed.sandboxes[0]!.state = PodSandboxState.SANDBOX_NOTREADY;
      assert.deepEqual(pilot.settle(), ["kill-container", "create-sandbox", "start one"]);
    });
    it("end a pod with restartPolicy Never when one fails", () => {
      const pilot = new Pilot(pod({ initContainers: inits("one"), restartPolicy: "Never" }));
      pilot.settle();
      pilot.runtime.exit("one", 3);
      assert.deepEqual(pilot.settle(), ["stop-sandbox"]);
      assert.equal(pilot.plan().finished, true);
      assert.deepEqual(pilot.settle(), []);
    });
    it("sidecars start in order, come back when they end, and go with the pod", () => {
      const sidecar = container("proxy", { restartPolicy: "Always" });
      const pilot = new Pilot(pod({ initContainers: [sidecar, container("setup")], restartPolicy: "Never" }));
      assert.deepEqual(pilot.settle(), ["create-sandbox", "start proxy", "start setup"]);
      pilot.runtime.exit("setup", 0);
      assert.deepEqual(pilot.settle(), ["start app"]);
      pilot.runtime.exit("proxy", 1);
      assert.deepEqual(pilot.settle(), ["start proxy"]);
      pilot.runtime.exit("app", 0);
      assert.deepEqual(pilot.settle(), ["kill-container", "stop-sandbox", "remove-container"]);
    });
  });

  it("converges after any history of exits and sandbox deaths, and planning again yields nothing", () => {
    const event = fc.oneof(
      fc.record({ kind: fc.constant("exit" as const), index: fc.nat(3), code: fc.constantFrom(0, 1, 137) }),
      fc.record({ kind: fc.constant("sandbox" as const) }),
      fc.record({ kind: fc.constant("time" as const), ms: fc.nat(400_000) }),
      fc.record({ kind: fc.constant("created" as const), index: fc.nat(3) }),
    );
    fc.assert(
      fc.property(
        fc.constantFrom<RestartPolicy>("Always", "OnFailure", "Never"),
        fc.array(fc.constantFrom("init", "sidecar"), { maxLength: 3 }),
        fc.integer({ min: 1, max: 3 }),
        fc.array(event, { maxLength: 12 }),
        (restartPolicy, inits, count, events) => {
          const initContainers = inits.map((kind, index) =>
            container(`${kind}-${index}`, kind === "sidecar" ? { restartPolicy: "Always" } : {}),
          );
          const containers = Array.from({ length: count }, (_, index) => container(`app-${index}`));
          const pilot = new Pilot(pod({ restartPolicy, initContainers, containers }));
          pilot.settle();
          for (const one of events) {
            const { observed } = pilot.runtime;
            if (one.kind === "time") pilot.runtime.now += one.ms;
            if (one.kind === "sandbox") {
              for (const sandbox of observed.sandboxes) sandbox.state = PodSandboxState.SANDBOX_NOTREADY;
            }
            if (one.kind === "exit" || one.kind === "created") {
              const status = observed.containers[one.index % Math.max(observed.containers.length, 1)];
              if (status?.state !== ContainerState.CONTAINER_RUNNING) continue;
              if (one.kind === "exit") pilot.runtime.exit("", one.code, status.id);
              else status.state = ContainerState.CONTAINER_CREATED;
            }
            pilot.settle();
            assert.deepEqual(pilot.plan().steps, []);
            const ready = observed.sandboxes.filter((sandbox) => sandbox.state === PodSandboxState.SANDBOX_READY);
            assert.ok(ready.length <= 1, "two sandboxes are ready");
            const names = pilot.runtime.running();
            assert.equal(new Set(names).size, names.length, `a container runs twice: ${names.join(" ")}`);
            const dead = observed.containers.filter((status) => status.state === ContainerState.CONTAINER_EXITED);
            assert.ok(dead.length <= initContainers.length + count, "dead containers pile up");
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

/** A step, with the container that it waits for. */
function inOrder(step: Step): string {
  const what = "name" in step ? `${step.kind} ${step.name}` : step.kind;
  return step.kind === "kill-container" && step.after !== undefined ? `${what} after ${step.after}` : what;
}

describe("planTermination", () => {
  it("stops apps together, then sidecars in reverse, then sandboxes, then cleans up and removes", () => {
    const sidecars = ["s1", "s2"].map((name) => container(name, { restartPolicy: "Always" }));
    const wanted = pod({ initContainers: sidecars, containers: [container("a"), container("b")] });
    const pilot = new Pilot(wanted);
    pilot.settle();
    const { runtime } = pilot;
    const deadline = runtime.now + 30_000;
    const order: string[] = [];
    for (;;) {
      const { observed, now, cleaned } = runtime;
      const plan = planTermination({
        pod: wanted,
        observed,
        now: steadyTime(now),
        deadline: steadyTime(deadline),
        reason: "removed",
        cleaned,
      });
      if (plan.finished) break;
      order.push(plan.steps.map(inOrder).join(" + "));
      for (const step of plan.steps) runtime.apply(step);
      assert.ok(order.length < 20, "termination does not end");
    }
    assert.deepEqual(order, [
      "kill-container b + kill-container a",
      "kill-container s2 + kill-container s1 after s2",
      "stop-sandbox",
      "clean-up",
      "remove-sandbox",
    ]);
    assert.deepEqual([runtime.observed.containers.length, runtime.observed.sandboxes.length], [0, 0]);
  });

  it("runs the hooks of sidecars from the beginning, of those that have one and run", () => {
    const preStop = { lifecycle: { preStop: { sleep: { seconds: 1 } } } };
    const sidecars = [
      container("s1", { restartPolicy: "Always", ...preStop }),
      container("s2", { restartPolicy: "Always" }),
      container("s3", { restartPolicy: "Always", ...preStop }),
    ];
    const pilot = new Pilot(pod({ initContainers: sidecars, containers: [container("a", preStop)] }));
    pilot.settle();
    const { runtime } = pilot;
    const planned = (): string[] => {
      const { observed, now, cleaned } = runtime;
      const begun = steadyTime(now);
      const input = {
        ...{ pod: pilot.wanted, observed, now: begun, cleaned },
        deadline: later(begun, 30_000),
        reason: "removed",
      };
      return planTermination(input).steps.map(inOrder);
    };
    assert.deepEqual(planned(), ["kill-container a", "run-pre-stop s3", "run-pre-stop s1"]);
    runtime.exit("a", 0);
    const s1 = ["kill-container s1 after s2", "run-pre-stop s1"];
    assert.deepEqual(planned(), ["kill-container s3", "kill-container s2 after s3", ...s1]);
    runtime.exit("s3", 0);
    assert.deepEqual(planned(), ["kill-container s2", ...s1]);
    runtime.exit("s2", 0);
    assert.deepEqual(planned(), ["kill-container s1"]);
  });

  it("lets no container wait for its turn after the grace period", () => {
    const sidecars = ["s1", "s2"].map((name) => container(name, { restartPolicy: "Always" }));
    const pilot = new Pilot(pod({ initContainers: sidecars }));
    pilot.settle();
    const { observed, now, cleaned } = pilot.runtime;
    const plan = planTermination({
      pod: pilot.wanted,
      observed,
      now: steadyTime(now),
      deadline: steadyTime(now),
      reason: "removed",
      cleaned,
    });
    const stopped = plan.steps.map(inOrder);
    assert.deepEqual(stopped.sort(), ["kill-container app", "kill-container s1", "kill-container s2"]);
  });

  it("runs them so for a pod that came to its own end, too", () => {
    const preStop = { lifecycle: { preStop: { sleep: { seconds: 1 } } } };
    const sidecars = ["s1", "s2"].map((name) => container(name, { restartPolicy: "Always", ...preStop }));
    const pilot = new Pilot(pod({ initContainers: sidecars, containers: [container("a")], restartPolicy: "Never" }));
    pilot.settle();
    pilot.runtime.exit("a", 0);
    const steps = pilot.plan().steps.map(inOrder);
    assert.deepEqual(steps.slice(0, 3), ["kill-container s2", "kill-container s1 after s2", "run-pre-stop s1"]);
  });

  it("bounds every grace period to 100 years, and takes the default for one that is no number", () => {
    for (const given of [400_000_000_000, Number.MAX_SAFE_INTEGER]) {
      const patient = pod({ terminationGracePeriodSeconds: given });
      assert.equal(effectiveGraceSeconds(patient), LONGEST_SECONDS);
      assert.equal(graceSeconds(patient), LONGEST_SECONDS);
      assert.equal(graceSeconds(pod(), { terminationGracePeriodSeconds: given }), LONGEST_SECONDS);
      assert.equal(effectiveGraceSeconds(pod(), given), LONGEST_SECONDS);
    }
    assert.equal(effectiveGraceSeconds(pod({ terminationGracePeriodSeconds: Number.NaN })), 30);
  });

  it("gives the rest of the grace period, never less than 2 s", () => {
    const pilot = new Pilot(pod());
    pilot.settle();
    const { observed, now } = pilot.runtime;
    const grace = (deadline: number): number => {
      const plan = planTermination({
        pod: pilot.wanted,
        observed,
        now: steadyTime(now),
        deadline: steadyTime(deadline),
        reason: "",
        cleaned: false,
      });
      const [step] = plan.steps;
      assert.equal(step?.kind, "kill-container");
      return step.graceSeconds;
    };
    assert.equal(grace(now + 12_000), 12);
    assert.equal(grace(now - 60_000), 2);
  });
});
