// An error as one text value of a log line. Upstream logs the result of Error(), which is one message with its causes.

import { inspect } from "node:util";
import { grpcDetails } from "../../base/errors/grpc-details.js";

/** The message of anything thrown; causes are appended that neither repeat the message nor end with it. */
export function errorText(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown === "string" ? thrown : describe(thrown);
  const parts = [grpcDetails(thrown) ?? (thrown.message === "" ? thrown.name : thrown.message)];
  if (thrown instanceof AggregateError) parts.push(thrown.errors.map(errorText).join("; "));
  let cause: unknown = thrown.cause;
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth++, cause = cause.cause) {
    const text = grpcDetails(cause) ?? cause.message;
    if (text !== "" && !parts.some((part) => part.includes(text) || text.endsWith(part))) parts.push(text);
  }
  return parts.filter((part) => part !== "").join(": ");
}

/** Causes may form a circle. */
const MAX_CAUSES = 5;

function describe(value: unknown): string {
  if (typeof value === "object" && value !== null && "message" in value && typeof value.message === "string") {
    return value.message;
  }
  try {
    return typeof value === "object" ? JSON.stringify(value) : inspect(value);
  } catch {
    // A circle.
    return inspect(value);
  }
}
