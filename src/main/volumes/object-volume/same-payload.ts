// Whether two contents of a volume are the same, file for file.
import type { Payload, PayloadFile } from "../atomic-writer/payload.js";

export function samePayload(a: Payload, b: Payload): boolean {
  if (a.size !== b.size) return false;
  for (const [path, file] of a) {
    const other = b.get(path);
    if (other === undefined || file.mode !== other.mode || file.user !== other.user || !sameData(file, other)) {
      return false;
    }
  }
  return true;
}

function sameData({ data: a }: PayloadFile, { data: b }: PayloadFile): boolean {
  if (typeof a === "string" && typeof b === "string") return a === b;
  return Buffer.from(a).equals(Buffer.from(b));
}
