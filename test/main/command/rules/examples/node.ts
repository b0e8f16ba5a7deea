// Examples for the node's identity, its ports, limits and gates.

import type { Claims } from "../example.js";

const taint = { key: "example.com/dedicated", value: "db", effect: "NoSchedule" };

export const NODE: Claims = {
  "featureGates | name unknown": {
    bad: [
      [{ featureGates: { NodeSwop: true } }, "featureGates[NodeSwop]", "did you mean NodeSwap?"],
      [{ featureGates: { constructor: true } }, "featureGates[constructor]", "is not a feature gate"],
      [{ featureGates: { nodeSwap: true } }, "featureGates[nodeSwap]", "did you mean NodeSwap?"],
    ],
    good: [{ featureGates: { NodeLogQuery: true, EventedPLEG: true } }],
  },
  "featureGates | locked gate set away from its default": {
    bad: [[{ featureGates: { NodeSwap: false } }, "featureGates[NodeSwap]", "locked to true"]],
    good: [{ featureGates: { NodeSwap: true } }],
  },
  "featureGates | a gate is on while a gate it depends on is off": {
    bad: [
      [
        { featureGates: { GracefulNodeShutdown: false, WindowsGracefulNodeShutdown: false } },
        "featureGates[GracefulNodeShutdownBasedOnPodPriority]",
        "(on, but not set explicitly) requires GracefulNodeShutdown, which is off",
      ],
      [{ featureGates: { GangScheduling: true } }, "featureGates[GangScheduling]", "requires GenericWorkload"],
    ],
    good: [
      { featureGates: { GangScheduling: true, GenericWorkload: true } },
      {
        featureGates: {
          GracefulNodeShutdown: false,
          WindowsGracefulNodeShutdown: false,
          GracefulNodeShutdownBasedOnPodPriority: false,
        },
      },
    ],
  },
  "nodeLeaseDurationSeconds | <= 0": {
    bad: [
      [{ nodeLeaseDurationSeconds: 0 }, "nodeLeaseDurationSeconds", "0 is not 1 or more"],
      [{ nodeLeaseDurationSeconds: -1 }, "nodeLeaseDurationSeconds", "-1"],
    ],
    good: [{ nodeLeaseDurationSeconds: 1 }],
  },
  "eventBurst | negative": {
    bad: [[{ eventBurst: -1 }, "eventBurst", "-1 is not 0 or more"]],
    good: [{ eventBurst: 0 }],
  },
  "eventRecordQPS | negative": {
    bad: [[{ eventRecordQPS: -1 }, "eventRecordQPS", "-1 is not 0 or more"]],
    good: [{ eventRecordQPS: 0 }],
  },
  "healthzPort | not 0 and outside the port range": {
    bad: [
      [{ healthzPort: -1 }, "healthzPort", "-1 is not a port from 1 to 65535, or 0 to disable it"],
      [{ healthzPort: 65536 }, "healthzPort", "65536"],
    ],
    good: [{ healthzPort: 0 }, { healthzPort: 1 }, { healthzPort: 65535 }],
  },
  "iptablesDropBit | outside range": {
    bad: [
      [{ iptablesDropBit: -1 }, "iptablesDropBit", "-1 is not a bit from 0 to 31"],
      [{ iptablesDropBit: 32 }, "iptablesDropBit", "32"],
    ],
    good: [{ iptablesDropBit: 0 }, { iptablesDropBit: 31 }],
  },
  "iptablesMasqueradeBit | outside range": {
    bad: [
      [{ iptablesMasqueradeBit: -1 }, "iptablesMasqueradeBit", "-1 is not a bit from 0 to 31"],
      [{ iptablesMasqueradeBit: 32 }, "iptablesMasqueradeBit", "32"],
    ],
    good: [{ iptablesMasqueradeBit: 0 }, { iptablesMasqueradeBit: 31 }],
  },
  "kubeAPIBurst | negative": { bad: [[{ kubeAPIBurst: -1 }, "kubeAPIBurst", "-1"]], good: [{ kubeAPIBurst: 0 }] },
  "kubeAPIQPS | negative": { bad: [[{ kubeAPIQPS: -1 }, "kubeAPIQPS", "-1"]], good: [{ kubeAPIQPS: 0 }] },
  "nodeStatusMaxImages | below -1": {
    bad: [[{ nodeStatusMaxImages: -2 }, "nodeStatusMaxImages", "-2 is not -1 or more"]],
    good: [{ nodeStatusMaxImages: -1 }, { nodeStatusMaxImages: 0 }],
  },
  "maxOpenFiles | negative": { bad: [[{ maxOpenFiles: -1 }, "maxOpenFiles", "-1"]], good: [{ maxOpenFiles: 0 }] },
  "maxPods | negative": { bad: [[{ maxPods: -1 }, "maxPods", "-1"]], good: [{ maxPods: 0 }] },
  "oomScoreAdj | outside range": {
    bad: [
      [{ oomScoreAdj: -1001 }, "oomScoreAdj", "-1001 is not a number from -1000 to 1000"],
      [{ oomScoreAdj: 1001 }, "oomScoreAdj", "1001"],
    ],
    good: [{ oomScoreAdj: -1000 }, { oomScoreAdj: 1000 }],
  },
  "podsPerCore | negative": { bad: [[{ podsPerCore: -1 }, "podsPerCore", "-1"]], good: [{ podsPerCore: 0 }] },
  "port | not a port number": {
    bad: [
      [{ port: 0 }, "port", "0 is not a port from 1 to 65535"],
      [{ port: 65536 }, "port", "65536"],
    ],
    good: [{ port: 1 }, { port: 65535 }],
  },
  "readOnlyPort | not 0 and not a port number": {
    bad: [
      [{ readOnlyPort: -1 }, "readOnlyPort", "or 0 to disable it"],
      [{ readOnlyPort: 65536 }, "readOnlyPort", "65536"],
    ],
    good: [{ readOnlyPort: 0 }, { readOnlyPort: 65535 }],
  },
  "serverTLSBootstrap | true while gate off": {
    bad: [
      [
        { serverTLSBootstrap: true, gates: { RotateKubeletServerCertificate: false } },
        "serverTLSBootstrap",
        "requires the feature gate RotateKubeletServerCertificate",
      ],
    ],
    good: [{ serverTLSBootstrap: true }, { gates: { RotateKubeletServerCertificate: false } }],
  },
  "runOnce | true": { bad: [[{ runOnce: true }, "runOnce", "--runonce"]], good: [{ runOnce: false }] },
  "registerWithTaints[] | bad key (qualified name), bad value (label value) or effect not one of the three": {
    bad: [
      [
        { registerWithTaints: [taint, { ...taint, key: "a b" }] },
        "registerWithTaints[1].key",
        '"a b" is not a qualified',
      ],
      [{ registerWithTaints: [{ ...taint, key: "" }] }, "registerWithTaints[0].key", '""'],
      [{ registerWithTaints: [{ ...taint, value: "-" }] }, "registerWithTaints[0].value", '"-" is not at most 63'],
      [{ registerWithTaints: [{ ...taint, effect: "Never" }] }, "registerWithTaints[0].effect", "NoSchedule"],
    ],
    good: ["NoSchedule", "PreferNoSchedule", "NoExecute", ""].map((effect) => ({
      registerWithTaints: [{ ...taint, effect, value: "" }],
    })),
  },
  "registerWithTaints[].timeAdded | present": {
    bad: [
      [
        { registerWithTaints: [{ ...taint, timeAdded: "2026-01-01T00:00:00Z" }] },
        "registerWithTaints[0].timeAdded",
        "remove it",
      ],
    ],
    good: [{ registerWithTaints: [taint] }],
  },
  "hairpinMode | not a known value": {
    bad: [[{ hairpinMode: "veth" }, "hairpinMode", '"veth" is not none, hairpin-veth or promiscuous-bridge']],
    good: ["none", "hairpin-veth", "promiscuous-bridge"].map((hairpinMode) => ({ hairpinMode })),
  },
  "showHiddenMetricsForVersion | non-empty and not the immediately previous MAJOR.MINOR": {
    bad: [
      [{ showHiddenMetricsForVersion: "1.34" }, "showHiddenMetricsForVersion", '"1.34" is not 1.35'],
      [{ showHiddenMetricsForVersion: "1.36" }, "showHiddenMetricsForVersion", '"1.36"'],
    ],
    good: [{ showHiddenMetricsForVersion: "1.35" }, { showHiddenMetricsForVersion: "" }],
  },
  "containerRuntimeEndpoint | empty": {
    bad: [
      [{ containerRuntimeEndpoint: "" }, "containerRuntimeEndpoint", "is empty"],
      [{ containerRuntimeEndpoint: "tcp://127.0.0.1:1" }, "containerRuntimeEndpoint", 'unsupported scheme "tcp"'],
      [{ containerRuntimeEndpoint: "run/x.sock" }, "containerRuntimeEndpoint", "not an absolute path"],
    ],
    good: [{ containerRuntimeEndpoint: "unix:///run/x.sock" }, { containerRuntimeEndpoint: "/run/x.sock" }],
  },
  "enableSystemLogQuery | true while gate off": {
    bad: [
      [{ enableSystemLogQuery: true, gates: { NodeLogQuery: false } }, "enableSystemLogQuery", "gate NodeLogQuery"],
    ],
    good: [{ enableSystemLogQuery: true }, { enableSystemLogQuery: false, gates: { NodeLogQuery: false } }],
  },
  "enableSystemLogQuery, enableSystemLogHandler | query true while handler false": {
    bad: [
      [
        { enableSystemLogQuery: true, enableSystemLogHandler: false },
        "enableSystemLogQuery",
        "requires enableSystemLogHandler: true",
      ],
    ],
    good: [{ enableSystemLogQuery: true, enableSystemLogHandler: true }, { enableSystemLogHandler: false }],
  },
};
