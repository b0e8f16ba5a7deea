// The contract of the thread that serves the Kubernetes API of a node without a cluster (docs/without-a-cluster.md).
// Invariant: the thread keeps nothing that the files below `directory` do not have. It may restart at any time: its
// clients, the kubelet among them, connect again, list and go on.

import type { MetricSnapshot } from "../telemetry/metrics/snapshot.js";
import type { ListenAddress, ServingTls } from "./server.js";
import type { GuestHost } from "./thread.js";

/** Group of users who may look only. Users whom the readers' file does not name have no rights by it. */
export const READERS_GROUP = "nodelet:readers";

export interface ApiServerInit {
  address: string;
  port: number;
  tls: ServingTls;
  /** PEM file with the CA of clients' certificates. */
  clientCAFile: string;
  /** Names of users who may look only, a line each. */
  readersFile: string;
  /** Folder of the objects and of the log of changes. */
  directory: string;
  /** Folder of the volumes of claims. */
  volumesDir: string;
  nodeName: string;
  /** Socket of the nodelet command, for logs, streams and usage. */
  adminSocket: string;
}

/** Its guest is the worker node-status. */
export interface ApiServerControl extends GuestHost {
  /** The address of the listener; undefined while it does not listen. */
  listening(): Promise<ListenAddress | undefined>;
  metrics(): Promise<MetricSnapshot>;
}

/** Functions of main for the thread. */
export interface ApiServerUpcalls {
  /** The file of readers has these names. Other readers lose their kubeconfigs. */
  readersChanged(names: string[]): Promise<void>;
}

/** A line each; an empty line and what follows a # do not count. */
export function readerNames(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim())
    .filter((line) => line !== "");
}
