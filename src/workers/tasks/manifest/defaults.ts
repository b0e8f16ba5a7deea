// The defaults that the API server sets in a pod (core/v1). A static pod passes no API server, so the source sets them.
// The input has passed schema and rules; the result is a new Pod, the input stays as it was.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { isRecord } from "../../../shared/base/text/is-record.js";
import { aggregate } from "../../../shared/kubernetes/api/aggregate-resources.js";
import { defaultPullPolicy } from "../../../shared/kubernetes/api/image-name.js";
import type {
  Container,
  ContainerPort,
  EnvVar,
  HTTPGetAction,
  Lifecycle,
  LifecycleHandler,
  Pod,
  PodSpec,
  Probe,
  ResourceRequirements,
} from "../../../shared/kubernetes/api/pod.js";
import { printQuantity } from "../../../shared/kubernetes/api/quantity.js";
import type {
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  EphemeralVolumeSource,
  Volume,
  VolumeProjection,
} from "../../../shared/kubernetes/api/volume.js";

export function withPodDefaults(pod: Pod): Pod {
  return { ...pod, spec: specDefaults(pod.spec) };
}

function specDefaults(spec: PodSpec): PodSpec {
  const hostNetwork = spec.hostNetwork === true;
  const { initContainers, resources, volumes } = spec;
  return omitUndefined({
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    enableServiceLinks: true,
    schedulerName: "default-scheduler",
    ...spec,
    ...negativeGrace(spec),
    ...accountNames(spec),
    containers: spec.containers.map((container) => containerDefaults(container, hostNetwork)),
    initContainers:
      initContainers === undefined
        ? undefined
        : initContainers.map((container) => containerDefaults(container, hostNetwork)),
    volumes: volumes?.map(volumeDefaults),
    resources: resources === undefined ? undefined : podRequestDefaults(spec, resources),
  });
}

/** The name and its older form stand beside each other, as in the API. */
function accountNames(spec: PodSpec): Partial<PodSpec> {
  const name = spec.serviceAccountName ?? spec.serviceAccount;
  return name === undefined ? {} : { serviceAccountName: name, serviceAccount: name };
}

/** A negative grace period counts as 1 second, as in the API. */
function negativeGrace({ terminationGracePeriodSeconds: seconds }: PodSpec): Partial<PodSpec> {
  return seconds !== undefined && seconds < 0 ? { terminationGracePeriodSeconds: 1 } : {};
}

function containerDefaults(container: Container, hostNetwork: boolean): Container {
  const { ports, env, resources, lifecycle, livenessProbe, readinessProbe, startupProbe } = container;
  return omitUndefined({
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: defaultPullPolicy(container.image ?? ""),
    ...container,
    resources: requestDefaults(resources ?? {}),
    ports: ports === undefined ? undefined : ports.map((port) => portDefaults(port, hostNetwork)),
    env: env?.map(envDefaults),
    lifecycle: lifecycle === undefined ? undefined : lifecycleDefaults(lifecycle),
    livenessProbe: livenessProbe === undefined ? undefined : probeDefaults(livenessProbe),
    readinessProbe: readinessProbe === undefined ? undefined : probeDefaults(readinessProbe),
    startupProbe: startupProbe === undefined ? undefined : probeDefaults(startupProbe),
  });
}

function portDefaults(port: ContainerPort, hostNetwork: boolean): ContainerPort {
  const hostPort = hostNetwork && (port.hostPort ?? 0) === 0 ? { hostPort: port.containerPort } : {};
  return { protocol: "TCP", ...port, ...hostPort };
}

function envDefaults(variable: EnvVar): EnvVar {
  const source = variable.valueFrom;
  if (source === undefined) return variable;
  const { fieldRef, resourceFieldRef, fileKeyRef } = source;
  return {
    ...variable,
    valueFrom: omitUndefined({
      ...source,
      fieldRef: fieldRef === undefined ? undefined : { apiVersion: "v1", ...fieldRef },
      resourceFieldRef: resourceFieldRef === undefined ? undefined : { divisor: "0", ...resourceFieldRef },
      fileKeyRef: fileKeyRef === undefined ? undefined : { optional: false, ...fileKeyRef },
    }),
  };
}

/**
 * A pod with pod-level limits requests the sum of its containers' requests for CPU and memory, or else its limit. For a
 * container, a limit replaces a missing request.
 */
function podRequestDefaults(spec: PodSpec, written: ResourceRequirements): ResourceRequirements {
  const resources = hugePageDefaults(spec, written);
  if (Object.keys(resources.limits ?? {}).length === 0) return resources;
  const together = aggregate(spec, (container) => requestDefaults(container.resources ?? {}).requests);
  const asked = [...together].filter(([name]) => name === "cpu" || name === "memory");
  const containers = Object.fromEntries(asked.map(([name, quantity]) => [name, printQuantity(quantity)]));
  return { ...resources, requests: { ...resources.limits, ...containers, ...resources.requests } };
}

/** Pod-level resources without huge pages of a size get the sum of the containers' limits of that size. */
function hugePageDefaults(spec: PodSpec, resources: ResourceRequirements): ResourceRequirements {
  const { limits = {}, requests = {} } = resources;
  if (Object.keys(limits).length + Object.keys(requests).length === 0) return resources;
  const together = aggregate(spec, (container) => container.resources?.limits);
  const missing = [...together].filter(([name]) => name.startsWith("hugepages-") && !(name in requests));
  if (missing.length === 0) return resources;
  const containers = Object.fromEntries(missing.map(([name, quantity]) => [name, printQuantity(quantity)]));
  return { ...resources, limits: { ...containers, ...limits } };
}

/** A limit without a request is its own request. */
function requestDefaults(resources: ResourceRequirements): ResourceRequirements {
  if (resources.limits === undefined) return resources;
  return { ...resources, requests: { ...resources.limits, ...resources.requests } };
}

const PROBE_SECONDS = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 } as const;

/** Absent and 0 both take the default, as in the API. */
function probeDefaults(probe: Probe): Probe {
  const { httpGet, grpc } = probe;
  const result: Probe = omitUndefined({
    ...probe,
    httpGet: httpGet === undefined ? undefined : httpGetDefaults(httpGet),
    grpc: grpc === undefined ? undefined : { service: "", ...grpc },
  });
  for (const name of Object.keys(PROBE_SECONDS) as (keyof typeof PROBE_SECONDS)[]) {
    if ((result[name] ?? 0) === 0) result[name] = PROBE_SECONDS[name];
  }
  return result;
}

function httpGetDefaults(action: HTTPGetAction): HTTPGetAction {
  const path = action.path === undefined || action.path === "" ? "/" : action.path;
  return { scheme: "HTTP", ...action, path };
}

function handlerDefaults(handler: LifecycleHandler): LifecycleHandler {
  return handler.httpGet === undefined ? handler : { ...handler, httpGet: httpGetDefaults(handler.httpGet) };
}

function lifecycleDefaults(lifecycle: Lifecycle): Lifecycle {
  const { postStart, preStop } = lifecycle;
  return omitUndefined({
    ...lifecycle,
    postStart: postStart === undefined ? undefined : handlerDefaults(postStart),
    preStop: preStop === undefined ? undefined : handlerDefaults(preStop),
  });
}

const FILE_MODE = 0o644;

function volumeDefaults(volume: Volume): Volume {
  // A volume without any source is an emptyDir.
  if (Object.keys(volume).length === 1) return { ...volume, emptyDir: {} };
  const result: Volume = { ...volume };
  if (isRecord(volume["image"])) result["image"] = imageVolumeDefaults(volume["image"]);
  if (volume.ephemeral !== undefined) result.ephemeral = claimDefaults(volume.ephemeral);
  if (volume.iscsi !== undefined) result.iscsi = { iscsiInterface: "default", ...volume.iscsi };
  if (volume.hostPath !== undefined) result.hostPath = { type: "", ...volume.hostPath };
  for (const name of ["secret", "configMap", "downwardAPI", "projected"]) {
    const source = volume[name];
    if (isRecord(source)) result[name] = { defaultMode: FILE_MODE, ...source };
  }
  const { downwardAPI, projected } = result;
  if (downwardAPI !== undefined) result.downwardAPI = { ...downwardAPI, ...downwardItems(downwardAPI.items) };
  if (projected?.sources !== undefined) {
    result.projected = { ...projected, sources: projected.sources.map(projectedSource) };
  }
  return result;
}

const TOKEN_SECONDS = 3600;

function claimDefaults({ volumeClaimTemplate: template }: EphemeralVolumeSource): EphemeralVolumeSource {
  if (template === undefined) return {};
  return { volumeClaimTemplate: { ...template, spec: { volumeMode: "Filesystem", ...template.spec } } };
}

function imageVolumeDefaults(image: Record<string, unknown>): Record<string, unknown> {
  const { reference = "", pullPolicy } = image;
  if (typeof reference !== "string" || (pullPolicy ?? "") !== "") return image;
  return { ...image, pullPolicy: defaultPullPolicy(reference) };
}

function projectedSource(source: VolumeProjection): VolumeProjection {
  const { serviceAccountToken: token } = source;
  if (token !== undefined) return { ...source, serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, ...token } };
  if (source.downwardAPI === undefined) return source;
  return { ...source, downwardAPI: { ...source.downwardAPI, ...downwardItems(source.downwardAPI.items) } };
}

function downwardItems(items: DownwardAPIVolumeFile[] | undefined): DownwardAPIVolumeSource {
  if (items === undefined) return {};
  return {
    items: items.map((item) =>
      item.fieldRef !== undefined ? { ...item, fieldRef: { apiVersion: "v1", ...item.fieldRef } } : item,
    ),
  };
}
