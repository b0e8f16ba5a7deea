// Downward API values for environment variables and volumes: fields of the pod and resources of its containers.

import { oncePer } from "../../shared/base/objects/once-per.js";
import { quote } from "../../shared/base/text/quote.js";
import type { Quantity } from "../../shared/kubernetes/api/meta.js";
import { containerNamed } from "../../shared/kubernetes/api/per-spec.js";
import type { Container, Pod, ResourceList } from "../../shared/kubernetes/api/pod.js";
import { milliValue, parseQuantity } from "../../shared/kubernetes/api/quantity.js";
import { RESOURCE_FIELD } from "../../shared/kubernetes/api/resource-field.js";
import { CreateContainerConfigError } from "./container-config-error.js";

export interface DownwardInput {
  pod: Pod;
  /** The sandbox's addresses, primary first: the API status does not have them yet when a container starts. */
  podIPs: readonly string[];
  /** The node's addresses, primary first. */
  hostIPs: readonly string[];
  nodeName?: string;
  /** Used for a limit that neither container nor pod sets. */
  nodeAllocatable?: ResourceList;
}

/** Value of a fieldRef; throws CreateContainerConfigError for a path that environment variables do not know. */
export function fieldValue(input: DownwardInput, path: string): string {
  const { spec } = input.pod;
  const known = metadataValue(input.pod, path);
  if (known !== undefined) return known;
  switch (path) {
    case "spec.nodeName":
    // Its name in the first releases of the API.
    case "spec.host":
      return spec.nodeName ?? input.nodeName ?? "";
    case "spec.serviceAccountName":
      return spec.serviceAccountName ?? "";
    case "status.hostIP":
      return input.hostIPs[0] ?? "";
    case "status.hostIPs":
      return input.hostIPs.join(",");
    case "status.podIP":
      return input.podIPs[0] ?? "";
    case "status.podIPs":
      return input.podIPs.join(",");
    default:
      throw new CreateContainerConfigError(`unsupported fieldPath: ${path}`);
  }
}

/** Value of a fieldRef in a volume; throws CreateContainerConfigError for a path that volumes do not know. */
export function volumeFieldValue(pod: Pod, path: string): string {
  const { labels, annotations } = pod.metadata;
  if (path === "metadata.labels") return lines(labels);
  if (path === "metadata.annotations") return lines(annotations);
  const known = metadataValue(pod, path);
  if (known === undefined) throw new CreateContainerConfigError(`unsupported fieldPath: ${path}`);
  return known;
}

function metadataValue({ metadata }: Pod, path: string): string | undefined {
  const subscript = /^metadata\.(labels|annotations)\['(.*)'\]$/s.exec(path);
  if (subscript !== null) {
    const [, map, key] = subscript;
    const found = (map === "labels" ? metadata.labels : metadata.annotations) ?? {};
    // A key such as "constructor" is a member of each object.
    return Object.hasOwn(found, key ?? "") ? (found[key ?? ""] ?? "") : "";
  }
  switch (path) {
    case "metadata.name":
      return metadata.name;
    case "metadata.namespace":
      return metadata.namespace;
    case "metadata.uid":
      return metadata.uid;
    default:
      return undefined;
  }
}

/** K="escaped V", a line each, sorted by key. It is made once: thousands of files of one pod may have its labels. */
const textOf = oncePer((map: Readonly<Record<string, string>>): string => {
  const sorted = Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([key, value]) => `${key}=${quote(value)}`).join("\n");
});

function lines(map: Readonly<Record<string, string>> | undefined): string {
  return map === undefined ? "" : textOf(map);
}

export interface ResourceFieldInput {
  pod: Pod;
  nodeAllocatable?: ResourceList;
}

/**
 * Value of a resourceFieldRef: ceil(value / divisor). `own` is the container meant when none is named. Throws
 * CreateContainerConfigError for an unknown resource or container.
 */
export function resourceFieldValue(
  input: ResourceFieldInput,
  ref: { containerName?: string; resource: string; divisor?: Quantity },
  own?: Container,
): string {
  const container = ref.containerName ? findContainer(input.pod, ref.containerName) : own;
  if (container === undefined) {
    throw new CreateContainerConfigError(`container ${ref.containerName ?? ""} not found`);
  }
  const [, side, name] = RESOURCE_FIELD.exec(ref.resource) ?? [];
  if (side === undefined || name === undefined) {
    throw new CreateContainerConfigError(`unsupported container resource : ${ref.resource}`);
  }
  const quantity = side === "limits" ? limitOf(input, container, name) : container.resources?.requests?.[name];
  const value = milliValue(quantity ?? 0);
  const divisor = milliValue(isZero(ref.divisor) ? 1 : (ref.divisor ?? 1));
  // CPU keeps its thousandths; everything else counts whole units.
  return (
    name === "cpu" ? ceilDiv(value, divisor) : ceilDiv(ceilDiv(value, 1000n), ceilDiv(divisor, 1000n))
  ).toString();
}

/** For an unset limit of these resources, the value is node allocatable. */
const DEFAULTED = new Set(["cpu", "memory", "ephemeral-storage"]);

function limitOf(
  { pod, nodeAllocatable }: ResourceFieldInput,
  container: Container,
  name: string,
): Quantity | undefined {
  const set = [container.resources?.limits?.[name], pod.spec.resources?.limits?.[name]].find(
    (limit) => limit !== undefined && milliValue(limit) !== 0n,
  );
  return set ?? (DEFAULTED.has(name) ? nodeAllocatable?.[name] : undefined);
}

/** In any spelling: "0Mi" and "0.0", too. */
function isZero(divisor: Quantity | undefined): boolean {
  return divisor === undefined || divisor === "" || parseQuantity(divisor).nanos === 0n;
}

function ceilDiv(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}

function findContainer(pod: Pod, name: string): Container | undefined {
  const found = containerNamed(pod.spec, name);
  return found?.place === "ephemeral" ? undefined : found?.container;
}
