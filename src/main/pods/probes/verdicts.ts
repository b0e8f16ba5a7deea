// The latest probe results by container id: the state behind ProbeResults and its checkpoint.

import type { ProbeKind, ProbeVerdict } from "../../../shared/contracts/prober.js";
import type { PodUid, ContainerId } from "../../../shared/kubernetes/identifiers.js";
import type { ProbeResults } from "../../model/probe-results.js";

export type ContainerVerdicts = Partial<Record<ProbeKind, ProbeVerdict>>;
export type PodVerdicts = Map<ContainerId, ContainerVerdicts>;

export class Verdicts implements ProbeResults {
  private readonly pods = new Map<PodUid, PodVerdicts>();
  private readonly containers = new Map<ContainerId, ContainerVerdicts>();

  startup(containerId: ContainerId): ProbeVerdict | undefined {
    return this.get(containerId, "startup");
  }
  readiness(containerId: ContainerId): ProbeVerdict | undefined {
    return this.get(containerId, "readiness");
  }
  liveness(containerId: ContainerId): ProbeVerdict | undefined {
    return this.get(containerId, "liveness");
  }
  get(containerId: ContainerId, kind: ProbeKind): ProbeVerdict | undefined {
    return this.containers.get(containerId)?.[kind];
  }

  set(uid: PodUid, containerId: ContainerId, kind: ProbeKind, verdict: ProbeVerdict): void {
    const pod = this.pods.get(uid) ?? new Map<ContainerId, ContainerVerdicts>();
    const verdicts = { ...pod.get(containerId), [kind]: verdict };
    this.pods.set(uid, pod.set(containerId, verdicts));
    this.containers.set(containerId, verdicts);
  }

  /** Forgets containers of the pod that are not among `ids`; returns whether there were any. */
  keepOnly(uid: PodUid, ids: ReadonlySet<ContainerId>): boolean {
    const pod = this.pods.get(uid);
    if (pod === undefined) return false;
    const lost = [...pod.keys()].filter((id) => !ids.has(id));
    for (const id of lost) {
      pod.delete(id);
      this.containers.delete(id);
    }
    if (pod.size === 0) this.pods.delete(uid);
    return lost.length > 0;
  }

  uids(): PodUid[] {
    return [...this.pods.keys()];
  }

  entries(): Iterable<[uid: PodUid, verdicts: PodVerdicts]> {
    return this.pods;
  }
}
