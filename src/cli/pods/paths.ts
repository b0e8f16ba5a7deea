// Paths of a pod in the kubelet's routes.
import type { Pod } from "../../shared/api/pod.js";
import { CliError, EXIT } from "../errors.js";

/** "namespace/name", encoded for a path. */
export function podPath({ metadata }: Pod): string {
  return `${encodeURIComponent(metadata.namespace)}/${encodeURIComponent(metadata.name)}`;
}

/** The container that is meant; the first of the pod when none is named. @throws CliError for one that the pod has not */
export function containerName({ spec, metadata }: Pod, named: string | undefined): string {
  const all = [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])];
  const found = named === undefined ? all[0] : all.find(({ name }) => name === named);
  if (found !== undefined) return found.name;
  throw new CliError(
    EXIT.usage,
    `the pod ${metadata.name} has no container ${named ?? ""}`,
    `its containers: ${all.map(({ name }) => name).join(", ")}`,
  );
}
