// A pod as the status page shows it: what `nodelet why` reads, without the values of variables, arguments of commands,
// headers and annotations. Those can hold secrets, and readers of the page need none of them.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
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
  return omitUndefined({
    apiVersion,
    kind,
    metadata: omitUndefined({
      name,
      namespace,
      uid,
      labels,
      creationTimestamp,
      deletionTimestamp,
      ...finalizersOf(metadata),
    }),
    spec: omitUndefined({
      containers: containers.map(visible),
      initContainers: initContainers?.map(visible),
      ephemeralContainers: ephemeralContainers?.map(visible),
      volumes:
        volumes !== undefined
          ? volumes.map(({ name: volume, hostPath }) => omitUndefined({ name: volume, hostPath }))
          : undefined,
      restartPolicy,
      nodeName: spec.nodeName,
      hostNetwork: spec.hostNetwork,
      readinessGates: spec.readinessGates,
      resources: spec.resources,
    }),
    status,
  });
}

function visible<T extends Container | EphemeralContainer>({ name, image, restartPolicy, resources, ...rest }: T): T {
  const { startupProbe, livenessProbe, readinessProbe, lifecycle } = rest;
  return omitUndefined<Container | EphemeralContainer>({
    name,
    image,
    restartPolicy,
    resources,
    startupProbe: startupProbe !== undefined ? withoutSecrets(startupProbe) : undefined,
    livenessProbe: livenessProbe !== undefined ? withoutSecrets(livenessProbe) : undefined,
    readinessProbe: readinessProbe !== undefined ? withoutSecrets(readinessProbe) : undefined,
    lifecycle: lifecycle?.preStop !== undefined ? { preStop: {} } : undefined,
  }) as T;
}

/** The program of a command without its arguments, and a path without its query: both may hold secrets. */
function withoutSecrets({ exec, httpGet, ...probe }: Probe): Probe {
  const { command: [program, ...rest] = [] } = exec ?? {};
  const { path, port = 0, host, scheme } = httpGet ?? {};
  return omitUndefined({
    ...probe,
    exec:
      exec !== undefined
        ? { command: program === undefined ? [] : rest.length === 0 ? [program] : [program, "…"] }
        : undefined,
    httpGet:
      httpGet !== undefined
        ? omitUndefined({
            port,
            path: path !== undefined ? withoutQuery(path) : undefined,
            host,
            scheme,
          })
        : undefined,
  });
}

function withoutQuery(path: string): string {
  const at = path.indexOf("?");
  return at === -1 ? path : `${path.slice(0, at)}?…`;
}

function finalizersOf(metadata: object): object {
  const { finalizers } = metadata as { finalizers?: unknown };
  return finalizers === undefined ? {} : { finalizers };
}
