/** Something that must always hold did not: a defect of the kubelet, not of its input. */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
}

/**
 * States what must hold here. `expected` is the rule in words; it is a constant where the check runs often.
 * @throws InvariantError if it does not hold
 */
export function invariant(condition: boolean, expected: string): asserts condition {
  if (!condition) throw new InvariantError(`invariant broken: ${expected}`);
}
