// A pod as the status page shows it: what `nodelet why` reads, without the values of variables, arguments of commands,
// headers and annotations. Those can hold secrets, and readers of the page need none of them.

import type { Container, EphemeralContainer, Pod, Probe } from "../../../shared/kubernetes/api/pod.js";
import { terminationMark, withTerminationMark } from "../../../shared/kubernetes/api/termination-mark.js";

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
      name,
      namespace,
      uid,
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
    ...(startupProbe !== undefined && { startupProbe: withoutSecrets(startupProbe) }),
    ...(livenessProbe !== undefined && { livenessProbe: withoutSecrets(livenessProbe) }),
    ...(readinessProbe !== undefined && { readinessProbe: withoutSecrets(readinessProbe) }),
    ...(lifecycle?.preStop !== undefined && { lifecycle: { preStop: {} } }),
  } as T;
}

/** The program of a command without its arguments, and a path without its query: both may hold secrets. */
function withoutSecrets({ exec, httpGet, ...probe }: Probe): Probe {
  const { command: [program, ...rest] = [] } = exec ?? {};
  const { path, port = 0, host, scheme } = httpGet ?? {};
  return {
    ...probe,
    ...(exec !== undefined && {
      exec: { command: program === undefined ? [] : rest.length === 0 ? [program] : [program, "…"] },
    }),
    ...(httpGet !== undefined && {
      httpGet: {
        port,
        ...(path !== undefined && { path: withoutQuery(path) }),
        ...(host !== undefined && { host }),
        ...(scheme !== undefined && { scheme }),
      },
    }),
  };
}

function withoutQuery(path: string): string {
  const at = path.indexOf("?");
  return at === -1 ? path : `${path.slice(0, at)}?…`;
}

function finalizersOf(metadata: object): object {
  const { finalizers } = metadata as { finalizers?: unknown };
  return finalizers === undefined ? {} : { finalizers };
}
