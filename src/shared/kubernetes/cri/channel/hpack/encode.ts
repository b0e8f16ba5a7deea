// Encodes the fields of requests. Nothing is put into the peer's table: a call's own fields are few and short, and its
// fixed part is encoded once for each method.

/** Says that our encoder keeps no table, whatever size the peer allows. First in the first block of a connection. */
export const NO_TABLE = Buffer.from([0x20]);

/** A field of the static table, name and value. */
export function indexed(index: number): Buffer {
  return integer(0x80, 7, index);
}

/** @param name an index of the static table, or the name itself */
export function literal(name: number | string, value: string): Buffer {
  const parts = typeof name === "number" ? [integer(0, 4, name)] : [integer(0, 4, 0), text(name)];
  return Buffer.concat([...parts, text(value)]);
}

function text(value: string): Buffer {
  return Buffer.concat([integer(0, 7, value.length), Buffer.from(value, "latin1")]);
}

function integer(pattern: number, bits: number, value: number): Buffer {
  const most = 2 ** bits - 1;
  if (value < most) return Buffer.from([pattern | value]);
  const bytes = [pattern | most];
  let rest = value - most;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
  return Buffer.from(bytes);
}
