// Collects main's facts about the node for the node-status thread.
// Invariant: the thread gets all facts whenever one changes, and a burst of changes as one message; the runtime's last
// state is kept while the runtime does not respond.

import type { Clock, Timer } from "../../shared/base/clock/clock.js";
import type { NodeFacts } from "../../shared/contracts/node-status.js";
import type { PlegRecord, RuntimeState } from "../../shared/contracts/pleg.js";

/** A burst of changes, for example of a volume manager, is reported as one. */
const SETTLE_MS = 20;

/** The facts that change; the runtime state arrives as records. */
export type ChangingFacts = Pick<
  NodeFacts,
  "config" | "images" | "volumesInUse" | "pressures" | "shuttingDown" | "storageProblem" | "capacity" | "allocatable"
>;

export class GatheredFacts {
  private facts: NodeFacts;
  private published = "";
  private timer: Timer | undefined;

  constructor(
    resources: Pick<NodeFacts, "capacity" | "allocatable">,
    private readonly clock: Pick<Clock, "after" | "monotonic">,
    private readonly publish: (facts: NodeFacts) => void,
  ) {
    this.facts = {
      ...resources,
      runtime: undefined,
      relisted: false,
      images: undefined,
      volumesInUse: undefined,
      pressures: [],
      shuttingDown: false,
      storageProblem: "",
    };
  }

  /** All facts, for a thread that has just started. */
  get all(): NodeFacts {
    return this.facts;
  }

  /** Every record of the pleg thread; most do not concern the node. */
  onRecord(record: PlegRecord): void {
    if (record.kind === "runtime") this.onRuntime(record.state);
    else if (record.kind === "relisted" && !this.facts.relisted) this.change({ relisted: true });
  }

  set(facts: Partial<ChangingFacts>): void {
    this.change(facts);
  }

  stop(): void {
    this.timer?.cancel();
  }

  private onRuntime({ reachable, name, version, details }: RuntimeState): void {
    const { runtime } = this.facts;
    if (reachable && details !== undefined) {
      this.change({ runtime: { name, version, silentSinceMs: undefined, details } });
    } else if (runtime !== undefined) {
      this.change({ runtime: { ...runtime, silentSinceMs: runtime.silentSinceMs ?? this.clock.monotonic() } });
    }
  }

  private change(part: Partial<NodeFacts>): void {
    this.facts = { ...this.facts, ...part };
    this.timer ??= this.clock.after(SETTLE_MS, () => {
      this.timer = undefined;
      const text = JSON.stringify(this.facts);
      if (text === this.published) return;
      this.published = text;
      this.publish(this.facts);
    });
  }
}
