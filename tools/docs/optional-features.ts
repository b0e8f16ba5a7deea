// docs/reference/optional-features.md: parts of the kubelet that are off, or without work, until a setting or a pod
// asks for them. Their folders may be skipped by a reader of the rest.

import type { FieldPath } from "../../src/main/command/fields/fields.js";
import type { GATES } from "../../src/main/command/gates/table.js";
import { code, heading, table } from "./table.js";

export type Switch =
  | { readonly flag: string; readonly value?: string }
  | { readonly field: FieldPath; readonly value?: string }
  | { readonly gate: keyof typeof GATES }
  /** Field of a pod's spec, or what else brings it. */
  | { readonly by: string };

export interface OptionalFeature {
  readonly name: string;
  /** One of them is enough. */
  readonly on: readonly Switch[];
  /** Its own folders and files. */
  readonly code: readonly string[];
  /** Number of the decision; undefined: there is none. */
  readonly adr?: string;
  /** Page for users, below docs. */
  readonly page?: string;
}

export const OPTIONAL_FEATURES: readonly OptionalFeature[] = [
  {
    name: "Kubernetes API of a node without a cluster",
    on: [{ flag: "api-server-port" }],
    code: ["src/workers/apiserver", "src/main/process/own-api.ts"],
    adr: "0124",
    page: "without-a-cluster.md",
  },
  {
    name: "Manifest API",
    on: [{ flag: "manifest-api" }],
    code: ["src/main/pods/sources/submitted", "src/workers/server/pods/manifests"],
    adr: "0059",
    page: "manifest-api.md",
  },
  {
    name: "Status page",
    on: [{ flag: "status-page" }, { flag: "status-page-port" }],
    code: ["src/page", "src/workers/server/page"],
    adr: "0063",
    page: "status-page.md",
  },
  {
    name: "Configuration that changes while the kubelet runs",
    on: [{ flag: "dynamic-config-dir" }],
    code: ["src/main/process/dynamic-config", "src/workers/node-status/config-source"],
    adr: "0071",
    page: "dynamic-configuration.md",
  },
  {
    name: "Docker Engine",
    on: [{ flag: "container-runtime", value: "docker" }, { flag: "experimental-dockershim" }],
    code: ["src/workers/dockershim", "src/main/process/docker-runtime.ts"],
    adr: "0061",
    page: "docker.md",
  },
  {
    name: "Tracing",
    on: [{ field: "tracing.endpoint" }, { field: "tracing.samplingRatePerMillion" }],
    code: ["src/shared/telemetry/tracing"],
    adr: "0053",
    page: "tracing.md",
  },
  {
    name: "CPU, memory and topology managers",
    on: [
      { field: "cpuManagerPolicy", value: "static" },
      { field: "memoryManagerPolicy", value: "Static" },
    ],
    code: ["src/main/resources/cpu-manager", "src/main/resources/memory-manager", "src/main/resources/topology"],
    adr: "0105",
    page: "node-protection.md",
  },
  {
    name: "Graceful node shutdown",
    on: [{ field: "shutdownGracePeriod" }, { field: "shutdownGracePeriodByPodPriority" }],
    code: ["src/main/node/shutdown"],
    adr: "0034",
    page: "node-protection.md",
  },
  {
    name: "Pods API on a socket of the node",
    on: [{ gate: "PodsAPI" }],
    code: ["src/main/node/pods-api"],
    adr: "0064",
  },
  {
    name: "Usage of emptyDir volumes by project quotas",
    on: [{ gate: "LocalStorageCapacityIsolationFSQuotaMonitoring" }],
    code: ["src/main/volumes/quotas"],
  },
  {
    name: "Dynamic resource allocation",
    on: [{ by: "a pod with `resourceClaims`, or a driver that registers" }],
    code: ["src/main/resources/dra"],
    adr: "0047",
  },
  {
    name: "CSI volumes",
    on: [{ by: "a pod with a `csi` volume or such a claim, or a driver that registers" }],
    code: ["src/main/volumes/csi", "src/main/node/csi"],
    adr: "0027",
  },
  {
    name: "flexVolume drivers",
    on: [{ by: "a pod with a `flexVolume` volume" }],
    code: ["src/main/volumes/flex"],
  },
  {
    name: "iSCSI and Fibre Channel disks",
    on: [{ by: "a pod with an `iscsi` or `fc` volume" }],
    code: ["src/main/volumes/iscsi", "src/main/volumes/fc", "src/main/volumes/disks"],
  },
];

/** @param decisions names of their files */
export function optionalFeaturesPage(decisions: readonly string[]): string {
  return [
    ...heading("Optional features", [
      "Parts of the kubelet that are off, or have no work, until a setting or a pod asks for them. Any one of the settings is enough.",
      "A reader of the rest of the code may skip their folders.",
    ]),
    ...table(
      ["feature", "on with", "code", "decision", "page"],
      OPTIONAL_FEATURES.map((row) => cells(row, decisions)),
    ),
  ].join("\n");
}

function cells(
  { name, on, code: places, adr = "", page = "" }: OptionalFeature,
  decisions: readonly string[],
): string[] {
  const decision = decisions.find((file) => adr !== "" && file.startsWith(`${adr}-`));
  return [
    name,
    on.map(switchText).join(", "),
    places.map(code).join(", "),
    decision === undefined ? "" : `[${adr}](../adr/${decision})`,
    page === "" ? "" : `[${page.replace(".md", "")}](../${page})`,
  ];
}

function switchText(one: Switch): string {
  if ("by" in one) return one.by;
  if ("gate" in one) return `gate ${code(one.gate)}`;
  if ("flag" in one) return code(`--${one.flag}${one.value === undefined ? "" : `=${one.value}`}`);
  return `field ${code(`${one.field}${one.value === undefined ? "" : `: ${one.value}`}`)}`;
}
