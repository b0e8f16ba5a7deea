// Statuses of the containers of one list of a spec, kept while nothing that they are computed from has changed: a pod
// may have ten thousand containers, and a pass changes a few of them.
// Invariant: a kept status is what a new computation from the same facts would give.

import type { ApiContainerStatus } from "../../../shared/kubernetes/api/pod-status.js";
import type { Container } from "../../../shared/kubernetes/api/pod.js";
import { sameJson } from "../../../shared/kubernetes/api/same-json.js";

type Facts = readonly unknown[];

interface Kept {
  facts: Facts;
  previous: ApiContainerStatus | undefined;
  status: ApiContainerStatus;
}

export class KeptStatuses {
  private shared: Facts = [];
  private kept = new Map<Container, Kept>();

  /** `shared`: what the statuses of all containers are computed from. */
  begin(shared: Facts): void {
    if (!sameFacts(this.shared, shared)) this.kept = new Map();
    this.shared = shared;
  }

  /**
   * The status of a container. One that equals the previous status is the previous one: neither is it compared nor
   * written as a text again.
   */
  get(
    container: Container,
    facts: Facts,
    previous: ApiContainerStatus | undefined,
    compute: () => ApiContainerStatus,
  ): ApiContainerStatus {
    const known = this.kept.get(container);
    if (known !== undefined && known.previous === previous && sameFacts(known.facts, facts)) return known.status;
    const computed = compute();
    const status = previous !== undefined && sameJson(computed, previous) ? previous : computed;
    this.kept.set(container, { facts, previous, status });
    return status;
  }
}

function sameFacts(a: Facts, b: Facts): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (!Object.is(a[at], b[at])) return false;
  return true;
}
