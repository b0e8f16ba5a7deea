// Which features the node declares, by gates and the CPU manager's policy.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { declaredFeatures } from "../../../src/main/node/declared-features.js";

const ON = [
  "NodeDeclaredFeatures",
  "ExtendWebSocketsToKubelet",
  "InPlacePodLevelResourcesVerticalScaling",
  "InPlacePodVerticalScalingInitContainers",
  "RestartAllContainersOnContainerExits",
];
const declared = (gates: string[], cpuManagerPolicy: string): string[] =>
  declaredFeatures({ gate: (name) => gates.includes(name), get: () => cpuManagerPolicy as never });

const rows: [string, string[], string, string[]][] = [
  [
    "what is on by default, sorted",
    ON,
    "none",
    [
      "ExtendWebSocketsToKubelet",
      "InPlacePodLevelResourcesVerticalScaling",
      "InPlacePodVerticalScalingInitContainers",
      "RestartAllContainersOnContainerExits",
    ],
  ],
  ["nothing without the gate", ON.slice(1), "none", []],
  ["exclusive CPUs need a gate of their own", ["NodeDeclaredFeatures"], "static", []],
  ["and a policy that knows them", ["NodeDeclaredFeatures", "InPlacePodVerticalScalingExclusiveCPUs"], "other", []],
  [
    "which may be on",
    ["NodeDeclaredFeatures", "InPlacePodVerticalScalingExclusiveCPUs"],
    "static",
    ["GuaranteedQoSPodCPUResize"],
  ],
];
for (const [what, gates, policy, expected] of rows) {
  test(what, () => deepEqual(declared(gates, policy), expected));
}
