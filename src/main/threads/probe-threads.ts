// The probes of pods on both threads that run them. Each thread takes its own part of a pod.

import type { ProbedPod } from "../../shared/contracts/prober.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import type { ProberPort } from "../model/prober-port.js";

export class ProbeThreads implements ProberPort {
  private readonly threads: readonly ProberPort[];

  constructor({ prober, peers }: { prober: ProberPort; peers: ProberPort }) {
    this.threads = [prober, peers];
  }

  setPod(pod: ProbedPod): void {
    for (const thread of this.threads) thread.setPod(pod);
  }

  podRemoved(uid: PodUid): void {
    for (const thread of this.threads) thread.podRemoved(uid);
  }
}
