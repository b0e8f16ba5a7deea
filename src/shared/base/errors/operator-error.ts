/**
 * An error whose message is complete for the operator: it names what was tried and what to do, so that no stack is
 * logged.
 */
export class OperatorError extends Error {
  override readonly name: string = "OperatorError";
}
