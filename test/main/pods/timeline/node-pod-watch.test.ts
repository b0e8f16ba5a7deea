// The stages of a pod that are measured. Not measured are starts of pods that ran before, and ends that another kubelet
// counted.

import assert from "node:assert/strict";
import { test } from "node:test";
import { podMetrics } from "../../../../src/main/pods/sync/metrics.js";
import { NodePodWatch } from "../../../../src/main/pods/timeline/node-pod-watch.js";
import { Timelines } from "../../../../src/main/pods/timeline/timelines.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { ContainerState } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { MetricSample } from "../../../../src/shared/telemetry/metrics/snapshot.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { container, pod } from "../../../support/pods.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { criContainer, observedPod } from "../status/fixtures.js";

function build() {
  const clock = new SteppedClock();
  const registry = new ThreadRegistry("main");
  const timelines = new Timelines({ clock, events: () => [] });
  const watch = new NodePodWatch(timelines, podMetrics(registry), clock);
  const samples = async (name: string): Promise<MetricSample[]> => {
    const { families } = await registry.exportSnapshot();
    return families.find((family) => family.name === name)?.samples ?? [];
  };
  /** Counters and gauges that are not zero: "label label value". */
  const counted = async (name: string): Promise<string[]> =>
    (await samples(name))
      .filter(({ value }) => value !== 0)
      .map(({ value, labels }) => [...Object.values(labels), value].join(" "));
  /** Sum of a histogram's observations. */
  const sum = async (name: string): Promise<number | undefined> =>
    (await samples(name)).find(({ metricName }) => metricName === `${name}_sum`)?.value;
  return { clock, timelines, watch, counted, sum };
}

const seen = (given: Pod): Pod => ({
  ...given,
  metadata: { ...given.metadata, annotations: { "kubernetes.io/config.seen": new Date(0).toISOString() } },
});

test("a start is measured once, with and without the time of an init container", async () => {
  const { clock, timelines, watch, counted, sum } = build();
  const web = seen(pod({ initContainers: [container("fetch")] }, "web", "u1"));
  watch.accepted(web, false);
  watch.seen(web, observedPod([criContainer("fetch")]));
  clock.step(3000);
  watch.seen(web, observedPod([criContainer("fetch", { state: ContainerState.CONTAINER_EXITED })]));
  clock.step(1000);
  watch.running(web);
  watch.running(web);
  assert.equal(timelines.show("default", "web")?.startSliMs, 1000);
  assert.deepEqual(await counted("kubelet_first_network_pod_start_sli_duration_seconds"), ["1"]);
  assert.equal(await sum("kubelet_pod_start_total_duration_seconds"), 4);
  assert.equal(await sum("kubelet_pod_start_sli_duration_seconds"), 1);
});

test("a pod that ran before this kubelet is not measured", async () => {
  const { clock, watch, sum } = build();
  const web = seen(pod({}, "web", "u1"));
  watch.accepted(web, true);
  watch.seen(web, observedPod([criContainer("app")]));
  clock.step(50);
  watch.running(web);
  for (const name of ["kubelet_pod_start_duration_seconds", "kubelet_pod_worker_start_duration_seconds"]) {
    assert.ok(!(await sum(name)), name);
  }
});

test("ends are counted once each, not those of an earlier life of the kubelet", async () => {
  const { watch, counted } = build();
  const web = seen(pod({ initContainers: [container("fetch")] }, "web", "u1"));
  const exited = (name: string, id: string, exitCode: number) =>
    criContainer(name, {
      id,
      state: ContainerState.CONTAINER_EXITED,
      exitCode,
      reason: exitCode === 0 ? "Completed" : "Error",
    });
  watch.accepted(web, true);
  watch.seen(web, observedPod([exited("fetch", "old", 0)]));
  watch.seen(web, observedPod([exited("app", "a1", 3), exited("fetch", "old", 0)]));
  watch.seen(web, observedPod([exited("app", "a1", 3), exited("fetch", "new", 0)]));
  assert.deepEqual((await counted("kubelet_terminated_containers_total")).sort(), [
    "container 3 Error 1",
    "init_container 0 Completed 1",
  ]);
});
