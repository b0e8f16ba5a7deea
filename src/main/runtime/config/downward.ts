// Downward API values for environment variables: fields of the pod and resources of its containers (section 19).
import type { Quantity } from "../../../shared/api/meta.js";
import type { Container, Pod, ResourceList } from "../../../shared/api/pod.js";
import { CreateContainerConfigError } from "./config-error.js";

export interface DownwardInput {
  pod: Pod;
  /** The sandbox's addresses, primary first: the API status does not have them yet when a container starts. */
  podIPs: readonly string[];
  /** The node's addresses, primary first. */
  hostIPs: readonly string[];
  nodeName?: string;
  /** Used for a limit that neither container nor pod sets. */
  nodeAllocatable?: ResourceList;
  /** A quantity in thousandths of its unit, rounded up. */
  toMilli: (quantity: Quantity) => bigint;
}

/** Value of a fieldRef; throws CreateContainerConfigError for a path that environment variables do not know. */
export function fieldValue(input: DownwardInput, path: string): string {
  const { metadata, spec } = input.pod;
  const subscript = /^metadata\.(labels|annotations)\['([^']*)'\]$/.exec(path);
  if (subscript !== null) {
    const [, map, key] = subscript;
    return (map === "labels" ? metadata.labels : metadata.annotations)?.[key ?? ""] ?? "";
  }
  switch (path) {
    case "metadata.name":
      return metadata.name;
    case "metadata.namespace":
      return metadata.namespace;
    case "metadata.uid":
      return metadata.uid;
    case "spec.nodeName":
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

const RESOURCE_FIELD = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/;

/** Value of a resourceFieldRef: ceil(value / divisor). Throws CreateContainerConfigError for an unknown resource or container. */
export function resourceFieldValue(
  input: DownwardInput,
  own: Container,
  ref: { containerName?: string; resource: string; divisor?: Quantity },
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
  const value = input.toMilli(quantity ?? 0);
  const divisor = input.toMilli(isZero(ref.divisor) ? 1 : (ref.divisor ?? 1));
  // CPU keeps its thousandths; everything else counts whole units.
  return (
    name === "cpu" ? ceilDiv(value, divisor) : ceilDiv(ceilDiv(value, 1000n), ceilDiv(divisor, 1000n))
  ).toString();
}

function limitOf(input: DownwardInput, container: Container, name: string): Quantity | undefined {
  return (
    container.resources?.limits?.[name] ?? input.pod.spec.resources?.limits?.[name] ?? input.nodeAllocatable?.[name]
  );
}

function isZero(divisor: Quantity | undefined): boolean {
  return divisor === undefined || divisor === "" || divisor === "0" || divisor === 0;
}

function ceilDiv(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}

function findContainer(pod: Pod, name: string): Container | undefined {
  return [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find((container) => container.name === name);
}
