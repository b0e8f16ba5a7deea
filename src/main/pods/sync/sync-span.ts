// Spans of a pod's syncs, with upstream's names and attributes. Each begins a trace, because another pod may have
// caused the sync.
// Invariant: a span ends at the latest when the termination of the pod begins or its worker stops.

import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { traced, tracer, type Attributes, type OpenSpan } from "../../../shared/telemetry/tracing/tracing.js";
import type { StartFailure } from "../../model/synced-pod.js";

/** Upstream's name for the kind of update that a sync handles. */
export type UpdateType = "create" | "update" | "sync";

type Failures = ReadonlyMap<string, Pick<StartFailure, "reason" | "message">>;

/**
 * The span of one pod's sync. Upstream's sync is one call; here it may take several passes, each with a new plan. The
 * span lasts until a pass fails or has no step.
 */
export class SyncTrace {
  private span: OpenSpan | undefined;

  /**
   * @param action one pass; resolves to true when the sync continues in the next pass. @param failures of containers
   * that did not start
   */
  async pass(pod: Pod, updateType: UpdateType, failures: Failures, action: () => Promise<boolean>): Promise<void> {
    this.span ??= tracer()?.start("syncPod", { parent: "none", attributes: syncAttributes(pod, updateType) });
    const { span } = this;
    if (span === undefined) {
      await action();
      return;
    }
    const before = new Set(failures.values());
    let goesOn = false;
    try {
      goesOn = await span.within(action);
    } catch (error) {
      span.fail(error);
      throw error;
    } finally {
      // A container that does not start fails upstream's sync; here the others continue.
      for (const [container, failure] of failures) {
        if (before.has(failure)) continue;
        span.fail(new Error(`container ${container}: ${failure.reason}: ${failure.message}`));
      }
      if (!goesOn) this.end();
    }
  }

  /** No further pass belongs to the sync. */
  end(): void {
    this.span?.end();
    this.span = undefined;
  }
}

function syncAttributes({ metadata }: Pod, updateType: UpdateType): Attributes {
  const { uid, name, namespace } = metadata;
  return { ...podAttributes({ uid, name, namespace }), "k8s.pod.update_type": updateType };
}

/** @param up a container of the pod still runs: the call stops containers; otherwise it removes the rest of the pod */
export function tracedEnd(
  { uid, name, namespace }: ObservedPod,
  up: boolean,
  action: () => Promise<void>,
): Promise<void> {
  return traced(
    up ? "syncTerminatingPod" : "syncTerminatedPod",
    () => ({ parent: "none", attributes: podAttributes({ uid, name, namespace }) }),
    action,
  );
}

function podAttributes({ uid, name, namespace }: { uid: PodUid; name: string; namespace: string }): Attributes {
  return {
    "k8s.pod.uid": uid,
    "k8s.pod": `${namespace}/${name}`,
    "k8s.pod.name": name,
    "k8s.namespace.name": namespace,
  };
}
