// Events as lines of the log.
import { podDescription } from "../../shared/api/pod.js";
import type { Logger } from "../../shared/log/logger.js";
import type { EventInput, EventRecorder } from "./recorder.js";

/** Every event is one line of the log; warnings are lines of level warn. */
export function logRecorder(log: Logger, nodeName: string): EventRecorder {
  const write = (object: string, event: EventInput): void => {
    const { type, reason, message, container } = event;
    log[type === "Warning" ? "warn" : "info"](
      { event: reason, object, ...(container !== undefined && { container }) },
      `event ${reason} ${object}${container === undefined ? "" : ` container ${container}`}: ${message}`,
    );
  };
  return {
    pod: (pod, event) => write(`pod ${podDescription(pod)}`, event),
    node: (event) => write(`node ${nodeName}`, event),
  };
}
