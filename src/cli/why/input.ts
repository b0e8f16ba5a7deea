// The input and output of the rules of `nodelet why`.

import type { PodFacts } from "../../shared/contracts/nodelet.js";
import type { Event } from "../../shared/kubernetes/api/event.js";
import type { ApiContainerStatus } from "../../shared/kubernetes/api/pod-status.js";
import type { Container, Pod } from "../../shared/kubernetes/api/pod.js";
import type { NodeView } from "../problems.js";

export interface WhyInput {
  pod: Pod;
  /** undefined: main does not know the pod, or does not respond. */
  facts: PodFacts | undefined;
  /** About the pod, least recently recorded first. */
  events: readonly Event[];
  node: NodeView;
  /** All pods of the node. */
  pods: readonly Pod[];
  now: number;
}

export interface Finding {
  severity: "error" | "warning" | "info";
  /** "pod", "container app", "volume data". */
  about: string;
  /** The cause, in whole sentences. */
  what: string;
  since?: number | undefined;
  /** Time of the kubelet's next attempt. */
  nextTryAt?: number | undefined;
  /** Remedies, most likely first. */
  help: string[];
  /** What shows that it is so. */
  evidence?: Evidence[] | undefined;
  /** The run whose last lines are evidence, too; the command reads them. */
  output?: { container: string; previous: boolean } | undefined;
  /** Containers run on after the grace period; the command looks for their processes. */
  unkilled?: true | undefined;
  /** The container runs, or will, and its restarts still count. */
  restarting?: true;
}

export interface Evidence {
  /** "its last output". */
  title: string;
  /** Foreign text, so without control characters. */
  lines: string[];
}

export type Rule = (input: WhyInput) => Iterable<Finding>;

export interface ContainerView {
  container: Container;
  status: ApiContainerStatus | undefined;
  kind: "init container" | "container" | "ephemeral container";
}

export function containersOf({ spec, status }: Pod): ContainerView[] {
  const view = (
    kind: ContainerView["kind"],
    containers: readonly Container[] = [],
    statuses: readonly ApiContainerStatus[] = [],
  ): ContainerView[] =>
    containers.map((container) => ({
      kind,
      container,
      status: statuses.find(({ name }) => name === container.name),
    }));
  return [
    ...view("init container", spec.initContainers, status?.initContainerStatuses),
    ...view("container", spec.containers, status?.containerStatuses),
    ...view("ephemeral container", spec.ephemeralContainers, status?.ephemeralContainerStatuses),
  ];
}

/** Events of one container have it in their field path. */
export function eventsOf(events: readonly Event[], container: string, reason: string): Event[] {
  return events.filter(
    ({ reason: given, involvedObject }) =>
      given === reason && involvedObject.fieldPath?.endsWith(`{${container}}`) === true,
  );
}
