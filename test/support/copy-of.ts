// Copies of messages between threads. Plain objects, arrays and bytes are copied here; everything else is left to
// `structuredClone`, which takes ten times as long.

/** Deeper values may be endless. */
const DEEPEST = 40;

/** As `structuredClone` copies it; a value that is in a message twice is copied twice. @throws DataCloneError */
export function copyOf<T>(message: T): T {
  const copied = copyPart(message, 0);
  return copied === UNKNOWN ? structuredClone(message) : (copied as T);
}

/** The value needs `structuredClone`. */
const UNKNOWN = Symbol("unknown");

function copyPart(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case "object":
      if (value === null) return null;
      if (depth > DEEPEST) return UNKNOWN;
      if (Array.isArray(value)) return listCopy(value, depth);
      if (value instanceof Uint8Array) return bytesCopy(value);
      return objectCopy(value, depth);
    case "function":
    case "symbol":
      return UNKNOWN;
    default:
      return value;
  }
}

function listCopy(list: readonly unknown[], depth: number): unknown {
  const copy = new Array<unknown>(list.length);
  for (let at = 0; at < list.length; at++) {
    const one = copyPart(list[at], depth + 1);
    if (one === UNKNOWN) return UNKNOWN;
    copy[at] = one;
  }
  return copy;
}

function bytesCopy(bytes: Uint8Array): unknown {
  return bytes.buffer instanceof ArrayBuffer ? new Uint8Array(bytes) : UNKNOWN;
}

function objectCopy(value: object, depth: number): unknown {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return UNKNOWN;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const one = copyPart((value as Record<string, unknown>)[key], depth + 1);
    if (one === UNKNOWN) return UNKNOWN;
    copy[key] = one;
  }
  return copy;
}
