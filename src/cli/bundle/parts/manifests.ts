// The part of a support bundle about manifests: which the kubelet refuses, where and why, without their values.

import type { NodeletStatus } from "../../../shared/contracts/nodelet.js";
import type { ManifestViolation, ManifestWarning } from "../../../shared/kubernetes/api/manifest/violation.js";
import { readKubeletConfig } from "../../machine/kubelet-config.js";
import { readManifests, sharedNames, type ReadManifest } from "../../machine/manifests.js";
import { maskText } from "../mask-text.js";
import type { Part, Sources } from "../part.js";

const DEADLINE_MS = 60_000;

export function manifestPart({ client, clock }: Sources): Part {
  return {
    name: "manifests.txt",
    deadlineMs: DEADLINE_MS,
    read: async (signal) => {
      const options = { clock, signal };
      const status = await client.json<NodeletStatus>("/nodelet/status").catch(() => undefined);
      const config = await readKubeletConfig(client, status, options);
      if (status === undefined && config.file === undefined) return "the kubelet has no configuration file\n";
      if (config.staticPodPath === "") return "the kubelet reads no folder of manifests (staticPodPath)\n";
      const { files, left } = await readManifests(config, options);
      return maskText(manifestsText(config.staticPodPath, files, left));
    },
  };
}

/** @internal */
export function manifestsText(folder: string, files: readonly ReadManifest[], left: number): string {
  const lines = files.flatMap(({ path, pods, violations, warnings }) => [
    `${path}: ${violations.length > 0 ? "refused" : pods.length === 0 ? "no pod" : pods.join(", ")}`,
    ...violations.map((one) => `  ${place(one)}${violationWords(one)}`),
    ...warnings.map((one) => `  warning: ${place(one)}${one.field}`),
  ]);
  const shared = sharedNames(files).map(({ pod, path, first }) => `${path}: the pod ${pod} is in ${first}, too`);
  const rest = left > 0 ? [`${left} more files were not read`] : [];
  return `${[`${folder}: files: ${files.length}`, ...lines, ...shared, ...rest].join("\n")}\n`;
}

/** Neither the value nor the words of a parser, which quote the text. */
function violationWords({ field, reason, allowed }: ManifestViolation): string {
  const rule = allowed === undefined || reason === "syntax" ? "" : `; allowed: ${allowed}`;
  return `${field === "" ? "" : `${field}: `}${reason}${rule}`;
}

function place({ line, column }: ManifestViolation | ManifestWarning): string {
  return line === 0 ? "" : `line ${line}, column ${column}: `;
}
