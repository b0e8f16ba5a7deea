// The node-status thread's contract: it maintains the Node object and the node's lease by itself. Main sends the facts
// that only main has, and receives the state of the API server (docs/adr/0024).
// Invariant: facts are sent whole, the newest last; a fact that main does not know yet is undefined, never a guess.

import type { MonotonicTime, WallTime } from "../base/clock/moments.js";
import type { NodeConfigFiles } from "../kubernetes/api/client/kubeconfig/node-config.js";
import type { ConfigMapReference, NodeConfigReport } from "../kubernetes/api/config-source.js";
import type { EventReason } from "../kubernetes/api/event-reasons.js";
import type { EventType } from "../kubernetes/api/event.js";
import type { ContainerImage, Node, Taint } from "../kubernetes/api/node.js";
import type { MetricSnapshot } from "../telemetry/metrics/snapshot.js";
import type { RuntimeDetails } from "./pleg.js";

/** Init data of the thread. Durations are milliseconds; names are KubeletConfiguration's. */
export interface NodeStatusInit {
  nodeName: string;
  /** For the label kubernetes.io/hostname and the address of type Hostname. */
  hostname: string;
  api: NodeConfigFiles;
  nodeLeaseDurationSeconds: number;
  nodeStatusUpdateFrequencyMs: number;
  nodeStatusReportFrequencyMs: number;
  registerNode: boolean;
  /**
   * A kubelet that may not create its Node does not look for an existing one (gate KubeletRegistrationGetOnExistsOnly).
   */
  getOnExistsOnly: boolean;
  registerWithTaints: Taint[];
  nodeLabels: Record<string, string>;
  /** "": none. */
  providerID: string;
  /** --cloud-provider=external. */
  externalCloudProvider: boolean;
  enableControllerAttachDetach: boolean;
  localStorageCapacityIsolation: boolean;
  /** --node-ip: none, one, or one of each family; "0.0.0.0" and "::" request a default of that family. */
  nodeIPs: string[];
  /** TCP port of the authenticated server. */
  port: number;
  kubeletVersion: string;
  userAgent: string;
  /** As Go names them: "linux", "amd64". */
  operatingSystem: string;
  architecture: string;
  /** As the gates have it, sorted; empty without the gate NodeDeclaredFeatures. */
  declaredFeatures: string[];
  /** The parent directory of the device plugins' checkpoint. */
  rootDir: string;
  /** The moment at which the kubelet started. */
  startedAtMs: WallTime;
  /** ConfigMaps that the Node may assign (--dynamic-config-sources); undefined: without --dynamic-config-dir. */
  configSources: readonly string[] | undefined;
}

/** The last state of the container runtime. */
export interface RuntimeFacts {
  /** "containerd" */
  name: string;
  version: string;
  /** Since when it does not respond; undefined: it responds. */
  silentSinceMs: MonotonicTime | undefined;
  details: RuntimeDetails;
}

export const PRESSURES = ["MemoryPressure", "DiskPressure", "PIDPressure"] as const;
export type Pressure = (typeof PRESSURES)[number];

/** Main's facts about the node. */
export interface NodeFacts {
  /** undefined until the runtime has responded once. */
  runtime: RuntimeFacts | undefined;
  /** The runtime has been listed once. */
  relisted: boolean;
  /** Capacity of the machine, without extended resources; canonical quantities. */
  capacity: Record<string, string>;
  allocatable: Record<string, string>;
  /** Largest first, at most as many as are shown. undefined: not listed yet. */
  images: ContainerImage[] | undefined;
  /** undefined: not known yet; the Node object's value stays. */
  volumesInUse: string[] | undefined;
  pressures: Pressure[];
  shuttingDown: boolean;
  /** Why volumes can't be had, "" when they can: CSINode is not there yet. */
  storageProblem: string;
  /** undefined: without --dynamic-config-dir. */
  config?: NodeConfigReport;
}

/** The configuration that the Node object assigns. */
export type ConfigSource =
  /** The Node assigns none: the node's own files count. */
  | { readonly kind: "local" }
  | {
      readonly kind: "config-map";
      /** With UID and resourceVersion. */
      readonly reference: ConfigMapReference;
      readonly text: string;
      /** The assignment names the resourceVersion. */
      readonly pinned: boolean;
    }
  /**
   * `wanted` is absent when the assignment itself is invalid or not allowed. The assignment before it stays in force.
   */
  | { readonly kind: "unavailable"; readonly wanted?: ConfigMapReference; readonly problem: string };

/** The kubelet's own Node, without images, conditions and managed fields. */
export type SeenNode = Node;

export interface NodeStatusUpcalls {
  /** The Node object has changed since the last call; undefined: it was deleted. */
  onNode(node: SeenNode | undefined): void;
  /**
   * "10.1.0.0/24" or "10.1.0.0/24,fd00::/64", for UpdateRuntimeConfig. The thread repeats the call at the next round
   * when it rejects.
   */
  onPodCIDR(podCIDR: string): Promise<void>;
  /** The API server responds again after it was unreachable. */
  serverReturned(): void;
  /** The configuration that the Node assigns has changed; also the first time. */
  onConfigSource(source: ConfigSource): void;
  /** An Event about the node. */
  event(type: EventType, reason: EventReason, message: string): void;
}

export interface NodeStatusControl {
  setFacts(facts: NodeFacts): void;
  /** The Node as the server has it now, not from any cache. */
  readNode(): Promise<SeenNode>;
  /** The certificate was renewed: new connections are made with it. */
  reloadCredentials(): Promise<void>;
  metrics(): Promise<MetricSnapshot>;
}
