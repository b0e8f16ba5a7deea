// The ServiceAccount plug-in: a pod runs as an account that exists, takes its pull secrets, and gets a volume with its
// token. Mirror pods are left as they are and may not name an account.

import { forbidden } from "../../../src/workers/apiserver/objects/errors.js";
import { randomSuffix } from "../../../src/workers/apiserver/objects/names.js";
import {
  fieldsAt,
  isFields,
  listAt,
  textAt,
  type ApiObject,
  type Fields,
} from "../../../src/workers/apiserver/objects/object.js";
import type { Target, WriteContext } from "../registry/request.js";
import { resourceNamed } from "../resources.js";
import { keyOf } from "../storage/store.js";
import { sameServiceAccount } from "../strategies/pod-defaults.js";

const MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
const TOKEN_SECONDS = 3607;
export const MIRROR = "kubernetes.io/config.mirror";

export function admitServiceAccount(target: Target, pod: ApiObject, { world }: WriteContext): void {
  const spec = pod.spec ?? {};
  if (pod.metadata.annotations?.[MIRROR] !== undefined) {
    const named = textAt(spec, "serviceAccountName");
    if (named !== undefined) {
      throw forbidden(target.resource, pod.metadata.name, "a mirror pod may not reference service accounts");
    }
    const { secrets, configmaps, claims } = referencesOf(pod);
    const refused = Object.entries({ secrets, configmaps, persistentvolumeclaims: claims }).find(
      ([, names]) => names.size > 0,
    );
    if (refused !== undefined) {
      throw forbidden(target.resource, pod.metadata.name, `a mirror pod may not reference ${refused[0]}`);
    }
    return;
  }
  spec["serviceAccountName"] ??= "default";
  if (spec["serviceAccountName"] === "") spec["serviceAccountName"] = "default";
  sameServiceAccount(spec);
  const name = textAt(spec, "serviceAccountName") ?? "default";
  const account = world.store.get(resourceNamed("serviceaccounts"), keyOf(target.namespace, name));
  if (account === undefined) {
    const why = `error looking up service account ${target.namespace}/${name}: serviceaccount "${name}" not found`;
    throw forbidden(target.resource, pod.metadata.name, why);
  }
  const wanted = spec["automountServiceAccountToken"] ?? account["automountServiceAccountToken"] ?? true;
  if (wanted === true) mountToken(spec);
  const secrets = listAt(account, "imagePullSecrets");
  if (secrets.length > 0 && listAt(spec, "imagePullSecrets").length === 0) {
    spec["imagePullSecrets"] = secrets.map((secret) => ({ name: secret["name"] }));
  }
}

function mountToken(spec: Fields): void {
  const containers = [...listAt(spec, "initContainers"), ...listAt(spec, "containers")];
  const without = containers.filter(
    (container) => !listAt(container, "volumeMounts").some(({ mountPath }) => mountPath === MOUNT_PATH),
  );
  const existing = listAt(spec, "volumes").find(
    (volume) => isFields(volume["projected"]) && (textAt(volume, "name") ?? "").startsWith("kube-api-access-"),
  );
  const name = textAt(existing, "name") ?? `kube-api-access-${randomSuffix()}`;
  for (const container of without) {
    const mounts = listAt(container, "volumeMounts");
    container["volumeMounts"] = [...mounts, { name, readOnly: true, mountPath: MOUNT_PATH }];
  }
  if (existing !== undefined || without.length === 0) return;
  spec["volumes"] = [...listAt(spec, "volumes"), tokenVolume(name)];
}

function tokenVolume(name: string): Fields {
  return {
    name,
    projected: {
      defaultMode: 0o644,
      sources: [
        { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: "token" } },
        { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
        {
          downwardAPI: {
            items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
          },
        },
      ],
    },
  };
}

/** Names of the secrets, config maps and claims that a pod refers to. */
export function referencesOf(pod: ApiObject): { secrets: Set<string>; configmaps: Set<string>; claims: Set<string> } {
  const spec = pod.spec ?? {};
  const found = { secrets: new Set<string>(), configmaps: new Set<string>(), claims: new Set<string>() };
  const add = (set: Set<string>, name: string | undefined): unknown => name !== undefined && set.add(name);
  for (const secret of listAt(spec, "imagePullSecrets")) add(found.secrets, textAt(secret, "name"));
  for (const list of ["initContainers", "containers", "ephemeralContainers"]) {
    for (const container of listAt(spec, list)) {
      for (const source of listAt(container, "envFrom")) {
        add(found.secrets, textAt(fieldsAt(source, "secretRef"), "name"));
        add(found.configmaps, textAt(fieldsAt(source, "configMapRef"), "name"));
      }
      for (const variable of listAt(container, "env")) {
        const from = fieldsAt(variable, "valueFrom");
        add(found.secrets, textAt(fieldsAt(from, "secretKeyRef"), "name"));
        add(found.configmaps, textAt(fieldsAt(from, "configMapKeyRef"), "name"));
      }
    }
  }
  for (const volume of listAt(spec, "volumes")) {
    for (const source of [volume, ...listAt(fieldsAt(volume, "projected"), "sources")]) {
      const secret = fieldsAt(source, "secret");
      add(found.secrets, textAt(secret, "secretName") ?? textAt(secret, "name"));
      add(found.configmaps, textAt(fieldsAt(source, "configMap"), "name"));
    }
    add(found.claims, textAt(fieldsAt(volume, "persistentVolumeClaim"), "claimName"));
    if (isFields(volume["ephemeral"])) add(found.claims, `${pod.metadata.name}-${textAt(volume, "name") ?? ""}`);
    for (const kind of ["csi", "cephfs", "rbd", "flexVolume", "iscsi", "scaleIO", "storageos"]) {
      const source = fieldsAt(volume, kind);
      const reference = fieldsAt(source, kind === "csi" ? "nodePublishSecretRef" : "secretRef");
      add(found.secrets, textAt(reference, "name"));
    }
  }
  return found;
}
