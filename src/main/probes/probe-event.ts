// The event of a run that did not succeed, word for word as upstream has it (facts: events.tsv).
import type { ProbeKind, ProbeRecord } from "../../shared/contracts/prober.js";
import type { EventInput } from "../model/event-recorder.js";

const KINDS: Readonly<Record<ProbeKind, string>> = {
  startup: "Startup",
  liveness: "Liveness",
  readiness: "Readiness",
};

export function probeEvent(record: ProbeRecord, container: string): EventInput | undefined {
  const kind = KINDS[record.kind];
  switch (record.outcome) {
    case "success":
      return undefined;
    case "warning":
      return warning("ProbeWarning", `${kind} probe warning: ${record.output}`, container);
    case "failure":
      return warning("Unhealthy", `${kind} probe failed: ${record.output}`, container);
    case "error":
      return warning("Unhealthy", `${kind} probe errored and resulted in unknown state: ${record.output}`, container);
  }
}

function warning(reason: string, message: string, container: string): EventInput {
  return { type: "Warning", reason, message, container };
}
