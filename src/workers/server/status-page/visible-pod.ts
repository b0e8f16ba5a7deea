// A pod as the status page shows it: what `nodelet why` reads, without the values of variables, commands, headers and annotations.
// Those can hold secrets, and readers of the page need none of them.
import { terminationMark, withTerminationMark } from "../../../shared/api/termination-mark.js";
import type { Container, EphemeralContainer, Pod, Probe } from "../../../shared/api/pod.js";

export function visiblePod(pod: Pod): Pod {
  const mark = terminationMark(pod);
  const visible = visibleParts(pod);
  return mark === undefined ? visible : withTerminationMark(visible, mark);
}

function visibleParts({ apiVersion, kind, metadata, spec, status }: Pod): Pod {
  const { name, namespace, uid, deletionTimestamp, creationTimestamp, labels } = metadata;
  const { containers, initContainers, ephemeralContainers, volumes, restartPolicy } = spec;
  return {
    apiVersion,
    kind,
    metadata: {
      ...{ name, namespace, uid },
      ...(labels !== undefined && { labels }),
      ...(creationTimestamp !== undefined && { creationTimestamp }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      ...finalizersOf(metadata),
    },
    spec: {
      containers: containers.map(visible),
      ...(initContainers !== undefined && { initContainers: initContainers.map(visible) }),
      ...(ephemeralContainers !== undefined && { ephemeralContainers: ephemeralContainers.map(visible) }),
      ...(volumes !== undefined && {
        volumes: volumes.map(({ name: volume, hostPath }) => ({ name: volume, ...(hostPath && { hostPath }) })),
      }),
      ...(restartPolicy !== undefined && { restartPolicy }),
      ...(spec.nodeName !== undefined && { nodeName: spec.nodeName }),
      ...(spec.hostNetwork !== undefined && { hostNetwork: spec.hostNetwork }),
      ...(spec.readinessGates !== undefined && { readinessGates: spec.readinessGates }),
      ...(spec.resources !== undefined && { resources: spec.resources }),
    },
    ...(status !== undefined && { status }),
  };
}

function visible<T extends Container | EphemeralContainer>({ name, image, restartPolicy, resources, ...rest }: T): T {
  const { startupProbe, livenessProbe, readinessProbe, lifecycle } = rest;
  return {
    name,
    ...(image !== undefined && { image }),
    ...(restartPolicy !== undefined && { restartPolicy }),
    ...(resources !== undefined && { resources }),
    ...(startupProbe !== undefined && { startupProbe: withoutHeaders(startupProbe) }),
    ...(livenessProbe !== undefined && { livenessProbe: withoutHeaders(livenessProbe) }),
    ...(readinessProbe !== undefined && { readinessProbe: withoutHeaders(readinessProbe) }),
    ...(lifecycle?.preStop !== undefined && { lifecycle: { preStop: {} } }),
  } as T;
}

function withoutHeaders({ httpGet, ...probe }: Probe): Probe {
  if (httpGet === undefined) return probe;
  const { path, port, host, scheme } = httpGet;
  return {
    ...probe,
    httpGet: {
      port,
      ...(path !== undefined && { path }),
      ...(host !== undefined && { host }),
      ...(scheme !== undefined && { scheme }),
    },
  };
}

function finalizersOf(metadata: object): object {
  const { finalizers } = metadata as { finalizers?: unknown };
  return finalizers === undefined ? {} : { finalizers };
}
