// The container hash: a running container whose annotation differs from it was defined differently and is restarted.
import { fnv1a32 } from "../../shared/api/fnv.js";

/** Lower-case hex, no padding. Exactly upstream's value (status-rules.md, section 21), so that nodes can change agents. */
export function containerHash(container: { name: string; image?: string }): string {
  const json = JSON.stringify({ image: container.image ?? "", name: container.name })
    .replaceAll("<", "\\u003c")
    .replaceAll(">", "\\u003e")
    .replaceAll("&", "\\u0026");
  const text = `([]uint8)[${[...new TextEncoder().encode(json)].join(" ")}]`;
  return fnv1a32(new TextEncoder().encode(text)).toString(16);
}
