// A cluster of the test's own, as volumes see it.

import type { ClusterObjects, PodCredential } from "../../../../src/main/model/cluster-access.js";
import { ApiError } from "../../../../src/shared/kubernetes/api/client/errors.js";
import type { ConfigMap, Secret } from "../../../../src/shared/kubernetes/api/objects.js";

export interface ClusterKit {
  configMaps: Map<string, ConfigMap>;
  secrets: Map<string, Secret>;
  /** Given out by audience; "" the server's own. */
  tokens: Map<string, string>;
  anchors: Map<string, string>;
  /** Pod certificates by "volume/index". */
  credentials: Map<string, PodCredential>;
  objects: ClusterObjects;
}

export const base64 = (text: string | Uint8Array): string => Buffer.from(text).toString("base64");

export function clusterKit(): ClusterKit {
  const configMaps = new Map<string, ConfigMap>();
  const secrets = new Map<string, Secret>();
  const tokens = new Map([["", "token"]]);
  const anchors = new Map<string, string>();
  const credentials = new Map<string, PodCredential>();
  const read = <T>(kind: string, from: Map<string, T>) => ({
    get: (_namespace: string, name: string): Promise<T> => {
      const found = from.get(name);
      return found === undefined
        ? Promise.reject(new ApiError(404, "NotFound", `${kind} "${name}" not found`))
        : Promise.resolve(found);
    },
  });
  const objects = {
    configMaps: read("configmap", configMaps),
    secrets: read("secret", secrets),
    tokens: {
      get: ({ audience = "" }: { audience?: string }) => {
        const token = tokens.get(audience);
        return token === undefined
          ? Promise.reject(new Error("failed to fetch token: away"))
          : Promise.resolve({ token, expiresAt: 0 });
      },
    },
    trustAnchors: {
      byName: (name: string) => Promise.resolve(anchors.get(name) ?? ""),
      bySigner: (signer: string) => Promise.resolve(anchors.get(signer) ?? ""),
    },
    podCertificates: {
      get: ({ volume, index }: { volume: string; index: number }) => {
        const credential = credentials.get(`${volume}/${index}`);
        return credential === undefined
          ? Promise.reject(new Error("credential bundle is not issued yet"))
          : Promise.resolve(credential);
      },
    },
    node: () => undefined,
  } as unknown as ClusterObjects;
  return { configMaps, secrets, tokens, anchors, credentials, objects };
}
