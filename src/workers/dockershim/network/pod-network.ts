// The networks of pods: docker's default one, or CNI's. One interface for the sandboxes.

import type { PodSandboxConfig, PodSandboxMetadata } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { CheckpointPort } from "../sandboxes/checkpoints.js";

export interface PodInNetwork {
  sandboxId: string;
  metadata: PodSandboxMetadata;
  /** Process id of the container that holds the namespaces; 0: it does not run. */
  pid: number;
  ports: readonly CheckpointPort[];
}

export interface PodNetwork {
  /** docker's network of sandbox containers. */
  readonly dockerNetwork: "none" | "default";
  /** undefined: pods can be connected. */
  problem(): Promise<string | undefined>;
  /** Returns the pod's addresses, first the primary one; undefined: docker knows them. */
  setUp(pod: PodInNetwork, config: PodSandboxConfig, signal: AbortSignal): Promise<string[] | undefined>;
  /** Safe to repeat. */
  tearDown(pod: PodInNetwork, signal: AbortSignal): Promise<void>;
  /** The node's range of pod addresses. */
  setPodCidr(cidr: string): void;
}
