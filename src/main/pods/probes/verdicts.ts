// The latest probe results by container id: the state behind ProbeResults and its checkpoint.

import type { ProbeKind, ProbeVerdict } from "../../../shared/contracts/prober.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { ProbeResults } from "../../model/probe-results.js";

export type ContainerVerdicts = Partial<Record<ProbeKind, ProbeVerdict>>;
/** By container id. */
export type PodVerdicts = Map<string, ContainerVerdicts>;

export class Verdicts implements ProbeResults {
  private readonly pods = new Map<PodUid, PodVerdicts>();
  private readonly containers = new Map<string, ContainerVerdicts>();

  startup(containerId: string): ProbeVerdict | undefined {
    return this.get(containerId, "startup");
  }
  readiness(containerId: string): ProbeVerdict | undefined {
    return this.get(containerId, "readiness");
  }
  liveness(containerId: string): ProbeVerdict | undefined {
    return this.get(containerId, "liveness");
  }
  get(containerId: string, kind: ProbeKind): ProbeVerdict | undefined {
    return this.containers.get(containerId)?.[kind];
  }

  set(uid: PodUid, containerId: string, kind: ProbeKind, verdict: ProbeVerdict): void {
    const pod = this.pods.get(uid) ?? new Map<string, ContainerVerdicts>();
    const verdicts = { ...pod.get(containerId), [kind]: verdict };
    this.pods.set(uid, pod.set(containerId, verdicts));
    this.containers.set(containerId, verdicts);
  }

  /** Forgets containers of the pod that are not among `ids`; returns whether there were any. */
  keepOnly(uid: PodUid, ids: ReadonlySet<string>): boolean {
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

  entries(): Iterable<[uid: string, verdicts: PodVerdicts]> {
    return this.pods;
  }
}
