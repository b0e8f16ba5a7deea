// Paths of a pod in the kubelet's routes.

import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { CliError, EXIT } from "../errors.js";
import { DEFAULT_CONTAINER } from "./find.js";

/** "namespace/name", encoded for a path. */
export function podPath({ metadata }: Pod): string {
  return `${encodeURIComponent(metadata.namespace)}/${encodeURIComponent(metadata.name)}`;
}

/**
 * The container that is meant. Where others were possible, says which one was taken, as kubectl does.
 * @throws CliError for one that the pod has not
 */
export function takenContainer(pod: Pod, named: string | undefined, say: (line: string) => void): string {
  const { spec, metadata } = pod;
  const taken = containerName(pod, named);
  if (named === undefined && metadata.annotations?.[DEFAULT_CONTAINER] !== taken && spec.containers.length > 1)
    say(`Defaulted container "${taken}" out of: ${spec.containers.map(({ name }) => name).join(", ")}`);
  return taken;
}

/**
 * The container that is meant; when none is named, that of the annotation of kubectl, or the first of the pod.
 * @throws CliError for one that the pod has not
 */
export function containerName({ spec, metadata }: Pod, named: string | undefined): string {
  const all = [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])];
  const usual = metadata.annotations?.[DEFAULT_CONTAINER];
  const found =
    named === undefined ? (all.find(({ name }) => name === usual) ?? all[0]) : all.find(({ name }) => name === named);
  if (found !== undefined) return found.name;
  throw new CliError(
    EXIT.usage,
    `the pod ${metadata.name} has no container ${named ?? ""}`,
    `its containers: ${all.map(({ name }) => name).join(", ")}`,
  );
}
