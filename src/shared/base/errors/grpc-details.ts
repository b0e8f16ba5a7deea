// The reason in a gRPC error, without what grpc-js adds for its own developers. Free of gRPC, so that a thread that
// only handles errors does not load it.

/**
 * What a call was waiting for when its deadline passed: "Deadline exceeded after 10.001s,LB pick:
 * 0.001s,remote_addr=unix:/run/…".
 */
const WAITED_FOR = /(\bDeadline exceeded after [\d.]+s)[,.].*$/s;
const NO_CONNECTION = /^No connection established\. Last error: (?:Error: )?(.*?)\.? Resolution note:/s;

/**
 * grpc-js wraps the reason of a failed connection twice, and lists the stages of a late call; only the reason helps a
 * reader.
 */
export function plainDetails(details: string): string {
  const reason = NO_CONNECTION.exec(details)?.[1] ?? details.replace(WAITED_FOR, "$1");
  return reason.replace(/ \(\d{4}-\d\d-\d\dT[\d:.]+Z\)$/, "");
}

/**
 * The details of an error of grpc-js, whose message repeats them behind a number: "2 UNKNOWN: …". undefined: another
 * error.
 */
export function grpcDetails(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("details" in error) || typeof error.details !== "string") return undefined;
  return /^\d+ [A-Z_]+: /.test(error.message) ? plainDetails(error.details) : undefined;
}
