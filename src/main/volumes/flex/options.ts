// The JSON object that a flexVolume driver gets with a volume. It has the volume's own options, and the kubelet's under
// kubernetes.io/. It contains secrets: no message and no log line may show it.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { SECRETS } from "../../../shared/kubernetes/api/client/kinds.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { FlexVolumeSource } from "../../../shared/kubernetes/api/volume.js";
import { type ClusterAccess } from "../../model/cluster-access.js";
import { goJson } from "../../model/go-json.js";
import { joined } from "../../model/joined-cluster.js";
import { FlexSpecError } from "./names.js";

export interface FlexRequest {
  pod: Pod;
  /** Name of the persistent volume, or of the pod's own volume. */
  name: string;
  source: FlexVolumeSource;
  readOnly: boolean;
  signal: AbortSignal;
  /** Called when a driver that was missing has come. */
  retryNow?: (() => void) | undefined;
}

type Options = Record<string, string>;

/** As a command line word. Keys are sorted, as Go sorts them; the volume's own options win. */
export function optionsFor({ name, source, readOnly }: FlexRequest, more: Options = {}): string {
  const options: Options = {
    "kubernetes.io/fsType": source.fsType ?? "",
    "kubernetes.io/readwrite": readOnly ? "ro" : "rw",
    "kubernetes.io/pvOrVolumeName": name,
    ...more,
    ...source.options,
  };
  return goJson(Object.fromEntries(Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** For the command "mount": pod, service account, fsGroup and the volume's secret. @throws FlexSpecError, ApiError */
export async function mountOptions(request: FlexRequest, cluster: ClusterAccess | undefined): Promise<Options> {
  const { metadata, spec } = request.pod;
  const { fsGroup } = spec.securityContext ?? {};
  return omitUndefined<Options>({
    "kubernetes.io/pod.name": metadata.name,
    "kubernetes.io/pod.namespace": metadata.namespace,
    "kubernetes.io/pod.uid": metadata.uid,
    "kubernetes.io/serviceAccount.name": spec.serviceAccountName ?? "",
    ...(await secretOptions(request, cluster)),
    "kubernetes.io/mounterArgs.FsGroup": fsGroup === undefined ? undefined : String(fsGroup),
  });
}

async function secretOptions(
  { pod, source, signal }: FlexRequest,
  cluster: ClusterAccess | undefined,
): Promise<Options> {
  const { name = "", namespace = pod.metadata.namespace } = source.secretRef ?? {};
  if (name === "" || namespace === "") return {};
  if (cluster === undefined) {
    throw new FlexSpecError(`couldn't get secret ${namespace}/${name}: a stand-alone node has no secrets`);
  }
  const secret = await joined(cluster).client.get(SECRETS, { name, namespace }, { signal });
  if (secret.type !== source.driver) {
    throw new FlexSpecError(
      `couldn't get secret ${namespace}/${name}: cannot get secret of type ${source.driver}, ` +
        `it has type ${secret.type ?? "Opaque"}`,
    );
  }
  // Values are base64 in the API too.
  return Object.fromEntries(
    Object.entries(secret.data ?? {}).map(([key, value]) => [`kubernetes.io/secret/${key}`, value]),
  );
}
