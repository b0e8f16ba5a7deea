// Which changes of a pod need a feature that the node declares.

import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { featuresToUpdate } from "../../../src/main/model/declared-features.js";
import type { Container, PodSpec } from "../../../src/shared/kubernetes/api/pod.js";
import { container, pod } from "../../support/pods.js";

const cpu = (amount: string) => ({ resources: { requests: { cpu: amount } } });
const init = (amount: string, fields: Partial<Container> = {}): Partial<PodSpec> => ({
  initContainers: [container("init", { ...cpu(amount), ...fields })],
});
const POD_LEVEL = "InPlacePodLevelResourcesVerticalScaling";
const INIT = "InPlacePodVerticalScalingInitContainers";

const rows: [what: string, before: Partial<PodSpec>, after: Partial<PodSpec>, features: string[]][] = [
  ["nothing changes", { ...init("1"), ...cpu("1") }, { ...init("1"), ...cpu("1000m") }, []],
  ["resources of a container", { containers: [container("app", cpu("1"))] }, { containers: [container("app")] }, []],
  ["resources of an init container", init("1"), init("2"), [INIT]],
  ["resources of a sidecar", init("1", { restartPolicy: "Always" }), init("2", { restartPolicy: "Always" }), []],
  ["pod-level resources", cpu("1"), cpu("2"), [POD_LEVEL]],
  ["pod-level resources where there were none", {}, cpu("2"), [POD_LEVEL]],
  ["both", { ...init("1"), ...cpu("1") }, { ...init("2"), ...cpu("2") }, [POD_LEVEL, INIT]],
];
for (const [what, before, after, features] of rows) {
  test(`${what}: ${features.join(", ") || "no feature"}`, () => {
    deepEqual(featuresToUpdate(pod(before), pod(after)), features);
  });
}
