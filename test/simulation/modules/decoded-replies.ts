// Values of replies that come more than once: the runtime gives the same bytes as long as nothing changes.
// Invariant: a value that two callers get is frozen, so that no reader changes it.

const replies = new WeakMap<Buffer, { times: number; value: unknown }>();

/** The third time the same bytes come, and later, their value is shared. */
export function decoded(bytes: Buffer, deserialize: (bytes: Buffer) => unknown): unknown {
  const known = replies.get(bytes) ?? { times: 0, value: undefined };
  if (++known.times === 1) replies.set(bytes, known);
  if (known.times < 3) return deserialize(bytes);
  known.value ??= frozen(deserialize(bytes));
  return known.value;
}

/** A caller that decodes these bytes gets this frozen value. */
export function shareDecoded(bytes: Buffer, value: unknown): void {
  replies.set(bytes, { times: 3, value });
}

export function frozen(value: unknown): unknown {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}
