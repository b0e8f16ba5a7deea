// Names of pods as users type them, the order in which pods are shown, and why a container runs no command.

import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { podNames } from "../../src/cli/commands/names.js";
import { whyNotRunning } from "../../src/cli/exec/not-running.js";
import { findPod } from "../../src/cli/pods/find.js";
import { brokenFirst } from "../../src/cli/pods/order.js";
import { containerName } from "../../src/cli/pods/pod-paths.js";
import type { Pod } from "../../src/shared/kubernetes/api/pod.js";
import { containerStatus, pod, RUNNING } from "./kit.js";

const named = (name: string, namespace = "default"): Pod => {
  const made = pod({}, { nodeName: "Node-1" }, name);
  return { ...made, metadata: { ...made.metadata, namespace } };
};

test("names for completion leave the node's name out, and have the namespace where a name is in two", () => {
  const pods = [named("web-node-1"), named("web-node-1", "shop"), named("api-abc"), named("db-node-1")];
  deepEqual(podNames(pods), ["api-abc", "db", "default/web", "shop/web"]);
  deepEqual(podNames(pods, "shop"), ["web"]);
  deepEqual(podNames([]), []);
});

test("pod/web is the pod web, unless there is a namespace of that name", () => {
  equal(findPod([named("web-node-1")], "pod/web").metadata.namespace, "default");
  equal(findPod([named("web-node-1"), named("web-node-1", "pod")], "pod/web").metadata.namespace, "pod");
});

test("broken pods come first, then those on their way, then the others; by name within each", () => {
  const well = { phase: "Running" as const, containerStatuses: [containerStatus(RUNNING, { ready: true })] };
  const waiting = (reason: string) => ({ containerStatuses: [containerStatus({ waiting: { reason } })] });
  const pods = [
    pod(well, {}, "b-well"),
    pod(waiting("ContainerCreating"), {}, "b-starts"),
    pod(waiting("CrashLoopBackOff"), {}, "z-broken"),
    pod(well, {}, "a-well"),
    pod(waiting("ImagePullBackOff"), {}, "a-broken"),
  ];
  deepEqual(
    brokenFirst(pods).map(({ metadata }) => metadata.name),
    ["a-broken", "z-broken", "b-starts", "a-well", "b-well"],
  );
});

test("the annotation of kubectl chooses the container when none is named", () => {
  const containers = [
    { name: "app", image: "i" },
    { name: "side", image: "i" },
  ];
  const made = pod({}, { containers });
  const annotated = (container: string): Pod => ({
    ...made,
    metadata: { ...made.metadata, annotations: { "kubectl.kubernetes.io/default-container": container } },
  });
  equal(containerName(made, undefined), "app");
  equal(containerName(annotated("side"), undefined), "side");
  equal(containerName(annotated("gone"), undefined), "app");
  equal(containerName(annotated("side"), "app"), "app");
});

describe("why a container runs no command", () => {
  const state = (one: Parameters<typeof containerStatus>[0]): string | undefined =>
    whyNotRunning(pod({ containerStatuses: [containerStatus(one)] }), "app");
  const terminated = { exitCode: 3 } as never;
  test("a running one has no reason", () => equal(state(RUNNING), undefined));
  test("a waiting one has its own", () =>
    equal(state({ waiting: { reason: "CrashLoopBackOff" } }), "CrashLoopBackOff"));
  test("one that ended has its code", () => equal(state({ terminated }), "it exited with code 3"));
  test("one without a status has not started", () => equal(whyNotRunning(pod({}), "app"), "it has not started"));
});
