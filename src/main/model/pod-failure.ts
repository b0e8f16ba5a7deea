// Why the kubelet itself ends a pod: eviction, preemption, node shutdown.

export interface PodFailure {
  reason: string;
  message: string;
  /** Text of the DisruptionTarget condition, where one belongs. */
  disruption?: string;
}
