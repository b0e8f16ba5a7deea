// Values of API objects that JSON has as texts or numbers, and protobuf as messages.

/** RFC 3339 time, whole seconds, UTC: "2026-11-21T06:30:00Z". */
export type Time = string;
/** RFC 3339 with microseconds. */
export type MicroTime = string;
/**
 * Resource quantity in its string form, e.g. "100m", "128Mi"; see quantity.ts. A bare number is allowed in manifests.
 */
export type Quantity = string | number;
export type IntOrString = number | string;
