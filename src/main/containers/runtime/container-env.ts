// The environment of one container. Reads each ConfigMap, Secret and file that it refers to once, some in parallel.

import { textOfBytes } from "../../../shared/base/text/escaped-bytes.js";
import { mapAtMost } from "../../../shared/base/turns/map-at-most.js";
import type { ResourceList } from "../../../shared/kubernetes/api/meta.js";
import { isStaticPod, type Container, type Pod } from "../../../shared/kubernetes/api/pod.js";
import { type ClusterObjects, type ClusterAccess } from "../../model/cluster-access.js";
import { CreateContainerConfigError } from "../../model/container-config-error.js";
import { joined } from "../../model/joined-cluster.js";
import { inNodeOrder } from "../../model/pod-ips.js";
import type { VolumePlace } from "../../volumes/place.js";
import { containerEnv, type EnvSources } from "./config/env.js";
import { EnvFiles } from "./env-files.js";
import type { NodeRuntime, NodeFacts } from "./node-runtime.js";
import { serviceEnv } from "./service-env.js";

export interface ContainerEnvRequest {
  pod: Pod;
  container: Container;
  /** The sandbox's addresses, as the runtime lists them. */
  podIPs: readonly string[];
  volumes: ReadonlyMap<string, VolumePlace>;
  signal: AbortSignal;
}

/** Name to value. Rejects with what keeps the container from its configuration. */
export async function environmentOf(runtime: NodeRuntime, request: ContainerEnvRequest): Promise<Map<string, string>> {
  const { pod, container, podIPs } = request;
  const { node, events } = runtime;
  const sources = envSources(runtime, request);
  const services = await servicesFor(runtime, request);
  return containerEnv({
    pod,
    container,
    sources,
    podIPs: inNodeOrder(pod.spec.hostNetwork === true ? node.nodeIPs : podIPs, node.nodeIPs),
    hostIPs: node.nodeIPs,
    nodeName: node.nodeName,
    nodeAllocatable: nodeAllocatable(node, runtime.cluster),
    serviceEnv: services,
    onInvalidNames: (names, kind, object) => {
      const message =
        `Keys [${names.join(", ")}] from the EnvFrom ${kind} ${pod.metadata.namespace}/${object} were skipped since ` +
        "they are considered invalid environment variable names.";
      events.pod(pod, { type: "Warning", reason: "InvalidEnvironmentVariableNames", message });
    },
  });
}

/**
 * undefined without an API server. Also undefined for static pods until the services are known, because they wait for
 * no API server.
 */
async function servicesFor(
  { cluster }: NodeRuntime,
  { pod, signal }: ContainerEnvRequest,
): Promise<Map<string, string> | undefined> {
  if (cluster === undefined) return undefined;
  const { enableServiceLinks } = pod.spec;
  if (enableServiceLinks === undefined) {
    throw new CreateContainerConfigError("nil pod.spec.enableServiceLinks encountered, cannot construct envvars");
  }
  const services = isStaticPod(pod) ? cluster()?.knownServices() : await joined(cluster).services(signal);
  return services === undefined ? undefined : serviceEnv(services, pod.metadata.namespace, enableServiceLinks);
}

type Keys = Promise<ReadonlyMap<string, string>>;

function envSources(runtime: NodeRuntime, { pod, container, volumes, signal }: ContainerEnvRequest): EnvSources {
  const { namespace } = pod.metadata;
  const read = (kind: "configMap" | "secret", name: string): Keys => {
    if (runtime.cluster === undefined) {
      const problem = `couldn't get ${kind} ${namespace}/${name}, no kubeClient defined`;
      return Promise.reject(new CreateContainerConfigError(problem));
    }
    const cluster = joined(runtime.cluster);
    return kind === "configMap"
      ? configMapKeys(cluster, namespace, name, signal)
      : secretKeys(cluster, namespace, name, signal);
  };
  const configMap = onceEach((name) => read("configMap", name));
  const secret = onceEach((name) => read("secret", name));
  const envFrom = container.envFrom ?? [];
  const env = container.env ?? [];
  readAhead(configMap, [
    ...envFrom.map(({ configMapRef }) => configMapRef),
    ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef),
  ]);
  readAhead(secret, [
    ...envFrom.map(({ secretRef }) => secretRef),
    ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef),
  ]);
  if (!runtime.settings.envFiles) return { configMap, secret };
  const files = new EnvFiles(volumes);
  return { configMap, secret, fileValue: (ref) => files.value(ref) };
}

/** Objects of one kind that are read at a time: a container may name tens of thousands. */
const READS_AHEAD = 16;

/** Who needs an object before its turn reads it at once. */
function readAhead(read: (name: string) => Keys, refs: readonly ({ name?: string } | undefined)[]): void {
  const names = new Set(refs.flatMap((ref) => (ref === undefined ? [] : [ref.name ?? ""])));
  void mapAtMost(READS_AHEAD, names, (name) => read(name).catch(() => undefined));
}

/**
 * Reads once per name. A later caller that awaits the promise handles its failure; until then the rejection is ignored.
 */
function onceEach(read: (name: string) => Keys): (name: string) => Keys {
  const begun = new Map<string, Keys>();
  return (name) => {
    const known = begun.get(name);
    if (known !== undefined) return known;
    const reading = Promise.resolve().then(() => read(name));
    reading.catch(() => undefined);
    begun.set(name, reading);
    return reading;
  };
}

async function configMapKeys(
  { configMaps }: ClusterObjects,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const { data = {} } = await configMaps.get(namespace, name, signal);
  return new Map(Object.entries(data));
}

async function secretKeys(
  { secrets }: ClusterObjects,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const { data = {} } = await secrets.get(namespace, name, signal);
  return new Map(Object.entries(data).map(([key, value]) => [key, textOfBytes(Buffer.from(value, "base64"))]));
}

/** Node allocatable for the downward API: from the Node object, or computed by the kubelet. */
export function nodeAllocatable(
  { allocatable }: Pick<NodeFacts, "allocatable">,
  cluster: ClusterAccess | undefined,
): ResourceList {
  return { ...allocatable, ...cluster?.()?.node()?.status?.allocatable };
}
