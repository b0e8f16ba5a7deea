// Paths of the node's certificates, from the settings.

import { join } from "node:path";
import type { NodeConfigFiles } from "../../../shared/kubernetes/api/client/kubeconfig/node-config.js";
import type { Settings } from "../../command/settings.js";
import type { NodeObjectSettings } from "../../command/views/node.js";

export const CLIENT_PREFIX = "kubelet-client";
export const SERVING_PREFIX = "kubelet-server";

/** The file that always holds the newest certificate of a kind, and its key. */
export function currentPair(certDir: string, prefix: string): string {
  return join(certDir, `${prefix}-current.pem`);
}

interface ApiSettings extends Pick<Settings, "kubeconfig" | "certDir"> {
  node: Pick<NodeObjectSettings, "rotateCertificates" | "contentType">;
}

export function nodeConfigFiles({ kubeconfig, certDir, node }: ApiSettings): NodeConfigFiles {
  return { kubeconfig, renewedCertificate: renewedCertificate({ certDir, node }), contentType: node.contentType };
}

interface RenewalSettings extends Pick<Settings, "certDir"> {
  node: Pick<NodeObjectSettings, "rotateCertificates">;
}

/** "": it is not rotated. */
export function renewedCertificate({ certDir, node }: RenewalSettings): string {
  return node.rotateCertificates ? currentPair(certDir, CLIENT_PREFIX) : "";
}

export interface ServingFiles {
  certFile: string;
  keyFile: string;
  /** Owner of the files. */
  from: "operator" | "cluster" | "self-signed";
}

type ServingSettings = Pick<Settings, "certDir" | "kubeconfig" | "server">;

/** Files that the settings name; else certificates that the cluster signs, if configured; else self-signed ones. */
export function servingFiles({ certDir, kubeconfig, server }: ServingSettings): ServingFiles {
  const { tlsCertFile, tlsPrivateKeyFile, serverTLSBootstrap } = server;
  if (tlsCertFile !== "" || tlsPrivateKeyFile !== "") {
    return { certFile: tlsCertFile, keyFile: tlsPrivateKeyFile, from: "operator" };
  }
  if (kubeconfig !== "" && serverTLSBootstrap) {
    const pair = currentPair(certDir, SERVING_PREFIX);
    return { certFile: pair, keyFile: pair, from: "cluster" };
  }
  return { certFile: join(certDir, "kubelet.crt"), keyFile: join(certDir, "kubelet.key"), from: "self-signed" };
}
