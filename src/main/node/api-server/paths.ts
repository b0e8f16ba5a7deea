// Where the API server of a node without a cluster keeps its files.

import { join } from "node:path";

export interface ApiServerFiles {
  /** For all below. */
  directory: string;
  caCert: string;
  caKey: string;
  servingCert: string;
  servingKey: string;
  /** Kubeconfig of this kubelet. */
  kubelet: string;
  /** Kubeconfig of the administrator. */
  admin: string;
  /** Names of users who may look only. */
  readers: string;
  /** Objects and the log of their changes. */
  store: string;
  /** Volumes of claims. */
  volumes: string;
}

export function apiServerFiles(rootDir: string): ApiServerFiles {
  const directory = join(rootDir, "nodelet", "api");
  const pki = join(directory, "pki");
  return {
    directory,
    caCert: join(pki, "ca.crt"),
    caKey: join(pki, "ca.key"),
    servingCert: join(pki, "serving.crt"),
    servingKey: join(pki, "serving.key"),
    kubelet: join(directory, "kubelet.kubeconfig"),
    admin: join(directory, "admin.kubeconfig"),
    readers: join(directory, "readers"),
    store: join(directory, "store"),
    volumes: join(directory, "volumes"),
  };
}
