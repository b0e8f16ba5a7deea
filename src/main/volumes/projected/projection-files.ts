// The files of one source of a projected volume. Credentials are for the pod's own user or group where it has one.

import { containersOf } from "../../../shared/kubernetes/api/pod-containers.js";
import { type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodCertificateProjection, VolumeProjection } from "../../../shared/kubernetes/api/volume.js";
import { type ClusterAccess } from "../../model/cluster-access.js";
import { joined } from "../../model/joined-cluster.js";
import type { Payload, PayloadFile } from "../atomic-writer/payload.js";
import { downwardFiles } from "../downward-api/downward-files.js";
import { type DownwardDeps } from "../downward-api/plugin.js";
import { configMapFiles, secretFiles } from "../object-volume/object-files.js";
import { VolumeError } from "../volume-error.js";
export interface ProjectedDeps extends DownwardDeps {
  /** Absent on a stand-alone node: then only the downward API is projected. */
  cluster: ClusterAccess | undefined;
}

export interface ProjectionRequest {
  pod: Pod;
  source: VolumeProjection;
  /** Name of the volume, and index of the source in it. */
  volume: string;
  index: number;
  defaultMode: number;
  signal: AbortSignal;
}

/** Rejects with the API server's error, or with VolumeError. */
export async function projectionFiles(deps: ProjectedDeps, request: ProjectionRequest): Promise<Payload> {
  const { pod, source, volume, index, defaultMode, signal } = request;
  const { namespace } = pod.metadata;
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  if (downwardAPI !== undefined) {
    return downwardFiles({ pod, items: downwardAPI.items, defaultMode, nodeAllocatable: deps.nodeAllocatable() });
  }
  const cluster = joined(deps.cluster);
  if (configMap !== undefined) {
    const { name = "", items, optional = false } = configMap;
    return configMapFiles({ objects: cluster.configMaps, namespace, name, items, defaultMode, optional, signal });
  }
  if (secret !== undefined) {
    const { name = "", items, optional = false } = secret;
    return secretFiles({ objects: cluster.secrets, namespace, name, items, defaultMode, optional, signal });
  }
  if (serviceAccountToken !== undefined) {
    const { audience = "", expirationSeconds, path } = serviceAccountToken;
    const request = { pod, audience: audience || undefined, expirationSeconds };
    const { token } = await cluster.tokens.get(request, signal);
    return new Map([[path, { data: token, ...credentialFile(pod, defaultMode) }]]);
  }
  if (clusterTrustBundle !== undefined) {
    const { name, signerName, labelSelector, optional = false, path } = clusterTrustBundle;
    const anchors = cluster.trustAnchors;
    const read = (): Promise<string> => {
      if (name !== undefined) return anchors.byName(name, optional, signal);
      if (signerName !== undefined) return anchors.bySigner(signerName, labelSelector, optional, signal);
      throw new VolumeError("ClusterTrustBundle projection requires either name or signerName to be set");
    };
    return new Map([[path, { data: await read(), ...credentialFile(pod, defaultMode) }]]);
  }
  if (podCertificate !== undefined) {
    const { key, chain } = await cluster.podCertificates.get({ pod, volume, index }, signal);
    return credentialPaths(podCertificate, key, chain, credentialFile(pod, defaultMode));
  }
  return new Map();
}

/** Key and chain where the source wants them: in one file, in two, or both. */
function credentialPaths(
  { credentialBundlePath = "", keyPath = "", certificateChainPath = "" }: PodCertificateProjection,
  key: string,
  chain: string,
  file: Omit<PayloadFile, "data">,
): Payload {
  const wanted = [
    [credentialBundlePath, key + chain],
    [keyPath, key],
    [certificateChainPath, chain],
  ] as const;
  return new Map(wanted.flatMap(([path, data]) => (path === "" ? [] : [[path, { data, ...file }]])));
}

// The user of all containers of a pod, if they have the same. It owns the credential files of the pod; other users
// cannot read them.
/** undefined if no container sets it, or two set it differently. Ephemeral containers do not count. */
function podFileUser({ spec }: Pod): number | undefined {
  const users = containersOf(spec).map(
    ({ securityContext }) => securityContext?.runAsUser ?? spec.securityContext?.runAsUser,
  );
  const [first] = users;
  return users.every((user) => user === first) ? first : undefined;
}

/** Mode and owner of a credential's file; with fsGroup the group's bit is added later. */
function credentialFile(pod: Pod, defaultMode: number): { mode: number; user?: number | undefined } {
  const user = podFileUser(pod);
  const narrow = user !== undefined || pod.spec.securityContext?.fsGroup !== undefined;
  return { mode: narrow ? 0o600 : defaultMode, user };
}
