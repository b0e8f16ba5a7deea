// The part of a pod's definition that only its own view shows: variables, mounts, ports, volumes, labels, settings.
// Pure.
// Invariant: names and references, never values of variables, commands, or credentials of volumes; lists and texts are
// cut.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { ContainerDetails, Listed, PodDetails } from "../../../shared/contracts/status-page.js";
import { allContainersOf } from "../../../shared/kubernetes/api/pod-containers.js";
import { type Container, type EnvVar, type Pod, type PodSpec } from "../../../shared/kubernetes/api/pod.js";
import type { Volume } from "../../../shared/kubernetes/api/volume.js";

/** Items of one list. */
const MOST = 100;
/** Characters of one text. */
const LONGEST = 300;

export function podDetails({ metadata, spec }: Pod): PodDetails {
  return {
    containers: listed(allContainersOf(spec), containerDetails),
    volumes: listed(spec.volumes ?? [], (volume) => ({ name: cut(volume.name), source: cut(sourceOf(volume)) })),
    labels: listed(Object.entries(metadata.labels ?? {}), ([name, value]) => ({ name: cut(name), value: cut(value) })),
    settings: settingsOf(spec),
  };
}

function containerDetails({ name, env, envFrom, volumeMounts, ports, securityContext }: Container): ContainerDetails {
  return {
    name,
    env: listed(env ?? [], (variable) => {
      const from = originOf(variable);
      return omitUndefined({ name: cut(variable.name), from: from !== undefined ? cut(from) : undefined });
    }),
    envFrom: (envFrom ?? []).slice(0, MOST).map(({ prefix = "", configMapRef, secretRef }) => {
      const object =
        configMapRef === undefined ? `Secret ${secretRef?.name ?? ""}` : `ConfigMap ${configMapRef.name ?? ""}`;
      return cut(`all keys of ${object}${prefix === "" ? "" : `, with the prefix ${prefix}`}`);
    }),
    mounts: listed(volumeMounts ?? [], ({ mountPath, name: volume, readOnly = false, subPath, subPathExpr }) => {
      const part = subPath ?? subPathExpr;
      return { path: cut(mountPath), volume: cut(part === undefined ? volume : `${volume}, path ${part}`), readOnly };
    }),
    ports: (ports ?? []).slice(0, MOST).map((port) => {
      const { name: title, containerPort, protocol = "TCP", hostPort, hostIP } = port;
      const host = hostPort === undefined ? "" : `, host port ${hostIP === undefined ? "" : `${hostIP}:`}${hostPort}`;
      return cut(`${title === undefined ? "" : `${title}: `}${containerPort}/${protocol}${host}`);
    }),
    security: securityOf(securityContext),
  };
}

/** As `kubectl describe`: the object and the key, never the value. */
function originOf({ valueFrom }: EnvVar): string | undefined {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom ?? {};
  if (fieldRef !== undefined) return `field ${fieldRef.fieldPath}`;
  if (resourceFieldRef !== undefined) return `resource ${resourceFieldRef.resource}`;
  if (configMapKeyRef !== undefined) return `key ${configMapKeyRef.key} of ConfigMap ${configMapKeyRef.name ?? ""}`;
  if (secretKeyRef !== undefined) return `key ${secretKeyRef.key} of Secret ${secretKeyRef.name ?? ""}`;
  return fileKeyRef === undefined ? undefined : `key ${fileKeyRef.key} of a file in volume ${fileKeyRef.volumeName}`;
}

function securityOf(context: Container["securityContext"]): string[] {
  const { privileged, runAsUser, runAsGroup, readOnlyRootFilesystem, capabilities } = context ?? {};
  return [
    privileged === true ? "privileged" : "",
    runAsUser === undefined ? "" : `user ${runAsUser}`,
    runAsGroup === undefined ? "" : `group ${runAsGroup}`,
    readOnlyRootFilesystem === true ? "read-only root file system" : "",
    ...(capabilities?.add ?? []).slice(0, MOST).map((name) => `capability ${name}`),
  ]
    .filter((text) => text !== "")
    .map(cut);
}

/**
 * Names of objects and paths on the node. Other sources have addresses and options, which may hold credentials: only
 * the kind is shown.
 */
function sourceOf(volume: Volume): string {
  const { configMap, secret, hostPath, persistentVolumeClaim: claim, emptyDir, image, csi } = volume;
  if (configMap !== undefined) return `ConfigMap ${configMap.name ?? ""}`;
  if (secret !== undefined) return `Secret ${secret.secretName ?? ""}`;
  if (hostPath !== undefined) return `host path ${hostPath.path}`;
  if (claim !== undefined) return `PersistentVolumeClaim ${claim.claimName}`;
  if (emptyDir !== undefined)
    return emptyDir.medium === undefined || emptyDir.medium === "" ? "emptyDir" : `emptyDir, ${emptyDir.medium}`;
  if (image !== undefined) return `image ${image.reference ?? ""}`;
  if (csi !== undefined) return `CSI driver ${csi.driver}`;
  return Object.keys(volume).find((source) => source !== "name" && volume[source] != null) ?? "emptyDir";
}

function settingsOf(spec: PodSpec): PodDetails["settings"] {
  const { serviceAccountName, priorityClassName, priority, runtimeClassName, hostNetwork, hostPID, hostIPC } = spec;
  const shared = [hostNetwork === true && "network", hostPID === true && "processes", hostIPC === true && "IPC"];
  const namespaces = shared.filter((name) => name !== false).join(", ");
  const rows: [string, string | undefined][] = [
    ["Service account", serviceAccountName],
    ["Priority", priorityClassName ?? (priority === undefined || priority === 0 ? undefined : String(priority))],
    ["Runtime class", runtimeClassName],
    ["Namespaces of the node", namespaces === "" ? undefined : namespaces],
    ["User namespace", spec.hostUsers === false ? "of its own" : undefined],
    ["Restart policy", spec.restartPolicy],
    [
      "Grace period",
      spec.terminationGracePeriodSeconds === undefined ? undefined : `${spec.terminationGracePeriodSeconds} s`,
    ],
    ["Active deadline", spec.activeDeadlineSeconds === undefined ? undefined : `${spec.activeDeadlineSeconds} s`],
    ["DNS policy", spec.dnsPolicy],
  ];
  return rows.flatMap(([name, value]) => (value === undefined || value === "" ? [] : [{ name, value: cut(value) }]));
}

function listed<T, U>(all: readonly T[], show: (item: T) => U): Listed<U> {
  return { items: all.slice(0, MOST).map(show), more: Math.max(all.length - MOST, 0) };
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
