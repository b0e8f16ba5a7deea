import assert from "node:assert/strict";
import { test } from "node:test";
import { podLimits, podRequests, type ResourceSums } from "../../../../src/shared/kubernetes/api/pod-requests.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { printQuantity } from "../../../../src/shared/kubernetes/api/quantity.js";
import { container, pod, sidecar } from "../../../main/resources/pods.js";

const shown = (sums: ResourceSums): Record<string, string> =>
  Object.fromEntries([...sums].map(([name, quantity]) => [name, printQuantity(quantity)]));

const table: [name: string, pod: Pod, requests: Record<string, string>][] = [
  [
    "regular containers add up",
    pod([container("a", { cpu: "100m" }), container("b", { cpu: "0.2", memory: "1Mi" })]),
    { cpu: "300m", memory: "1Mi" },
  ],
  [
    "the largest init container wins when larger",
    pod([container("a", { cpu: "100m" })], {
      initContainers: [container("i", { cpu: 1 }), container("j", { cpu: 2 })],
    }),
    { cpu: "2" },
  ],
  [
    "and not when smaller",
    pod([container("a", { cpu: "3" })], { initContainers: [container("i", { cpu: 1 })] }),
    { cpu: "3" },
  ],
  [
    "sidecars add to the regular ones",
    pod([container("a", { cpu: 1 })], { initContainers: [sidecar("s", { cpu: 1 })] }),
    { cpu: "2" },
  ],
  [
    "init after a sidecar runs beside it",
    pod([container("a", { cpu: 1 })], { initContainers: [sidecar("s", { cpu: 1 }), container("i", { cpu: 5 })] }),
    { cpu: "6" },
  ],
  [
    "init before a sidecar runs alone",
    pod([container("a", { cpu: 1 })], { initContainers: [container("i", { cpu: 5 }), sidecar("s", { cpu: 1 })] }),
    { cpu: "5" },
  ],
  [
    "overhead is added on top",
    pod([container("a", { cpu: 1 })], { overhead: { cpu: "250m", memory: "10Mi" } }),
    { cpu: "1250m", memory: "10Mi" },
  ],
  [
    "pod level replaces cpu, memory and huge pages only",
    pod([container("a", { cpu: 1, "example.com/x": 1 })], { resources: { requests: { cpu: 4, "example.com/x": 9 } } }),
    { cpu: "4", "example.com/x": "1" },
  ],
];
for (const [name, subject, requests] of table)
  test(name, () => assert.deepEqual(shown(podRequests(subject)), requests));

test("overhead raises existing limits and invents none", () => {
  const subject = pod([container("a", undefined, { cpu: 1 })], { overhead: { cpu: "250m", memory: "10Mi" } });
  assert.deepEqual(shown(podLimits(subject)), { cpu: "1250m" });
  assert.deepEqual(shown(podLimits(subject, { excludeOverhead: true })), { cpu: "1" });
});
