// status.resources and status.allocatedResources of pods, as upstream shows them.
// @promise Resources of the node: The pod status shows resources of the pod as a whole: the allocated ones and the
//   actual ones.
// @with test/integration/resize.test.ts, test/cluster/pods.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodResources } from "../../../../src/main/model/pod-resources.js";
import { podLevelResources } from "../../../../src/main/pods/status/pod-level-resources.js";
import type { Container, PodSpec, ResourceList } from "../../../../src/shared/kubernetes/api/pod.js";
import { container, pod } from "../../../support/pods.js";

const amounts = (cpu?: string, memory?: string): ResourceList => ({ ...(cpu && { cpu }), ...(memory && { memory }) });
const app = (requests: ResourceList, limits: ResourceList = {}, name = "app"): Container =>
  container(name, { resources: { requests, limits } });
const podLevel = (requests: ResourceList, limits: ResourceList = {}): Partial<PodSpec> => ({
  resources: { requests, limits },
});

interface Row {
  what: string;
  spec: Partial<PodSpec>;
  pending?: boolean;
  actuated?: PodResources;
  requests?: ResourceList;
  limits?: ResourceList;
  allocated?: ResourceList;
}

const rows: Row[] = [
  { what: "a pod that asks for nothing", spec: {} },
  {
    what: "a pending pod: sums of its containers, init containers included",
    spec: {
      initContainers: [app(amounts("700m", "10Mi"), amounts("700m", "10Mi"), "init")],
      containers: [app(amounts("100m", "64Mi"), amounts("200m", "128Mi"))],
    },
    pending: true,
    requests: amounts("700m", "64Mi"),
    limits: amounts("700m", "128Mi"),
    allocated: amounts("700m", "64Mi"),
  },
  {
    what: "a pending pod: its own resources take precedence",
    spec: { ...podLevel(amounts("300m"), amounts("400m", "1Gi")), containers: [app(amounts("100m", "64Mi"))] },
    pending: true,
    requests: amounts("300m", "64Mi"),
    limits: amounts("400m", "1Gi"),
    allocated: amounts("300m", "64Mi"),
  },
  {
    what: "a running pod: what its cgroup has",
    spec: { containers: [app(amounts("100m", "64Mi"), amounts("200m", "128Mi"))] },
    requests: amounts("100m", "64Mi"),
    limits: amounts("200m", "128Mi"),
    allocated: amounts("100m", "64Mi"),
  },
  {
    what: "a running pod with a container without limits has none",
    spec: {
      containers: [app(amounts("100m", "64Mi"), amounts("200m", "128Mi")), app(amounts("100m"), amounts("1"), "free")],
    },
    requests: amounts("200m", "64Mi"),
    limits: amounts("1200m"),
    allocated: amounts("200m", "64Mi"),
  },
  {
    what: "a running pod: a resize that has not reached its cgroup",
    spec: podLevel(amounts("300m", "64Mi"), amounts("400m", "256Mi")),
    actuated: {
      containers: {},
      pod: { requests: amounts("100m", "64Mi"), limits: amounts("200m", "128Mi") },
    },
    requests: amounts("100m", "64Mi"),
    limits: amounts("200m", "128Mi"),
    allocated: amounts("300m", "64Mi"),
  },
  {
    what: "a running pod: values that the kernel raises to its minimum are shown as requested",
    spec: podLevel(amounts("1m"), amounts("5m")),
    requests: amounts("1m"),
    limits: amounts("5m"),
    allocated: amounts("1m"),
  },
  {
    what: "a running pod: the kernel's minimum is not shown without a request",
    spec: { containers: [app(amounts("1m"), amounts("5m", "1Mi"))] },
    limits: amounts(undefined, "1Mi"),
    allocated: amounts("1m"),
  },
  {
    what: "a running pod: other resources are those of the pod level",
    spec: {
      ...podLevel({ "hugepages-2Mi": "4Mi", cpu: "1" }, { "hugepages-2Mi": "4Mi" }),
      containers: [app({ "example.com/gpu": "1", "ephemeral-storage": "1Gi" })],
    },
    requests: { "hugepages-2Mi": "4Mi", cpu: "1" },
    limits: { "hugepages-2Mi": "4Mi" },
    allocated: { "hugepages-2Mi": "4Mi", cpu: "1", "example.com/gpu": "1", "ephemeral-storage": "1Gi" },
  },
];

for (const { what, spec, pending = false, actuated, requests, limits, allocated } of rows) {
  test(what, () => {
    assert.deepEqual(podLevelResources(pod(spec), pending ? "Pending" : "Running", actuated), {
      resources: { ...(limits && { limits }), ...(requests && { requests }) },
      ...(allocated && { allocatedResources: allocated }),
    });
  });
}
