// The hash that decides whether a running container still is the one the manifest describes. It is written as a container
// annotation and must equal upstream's value, or a change of kubelet would restart every container of the node.
import { goJson } from "./go-json.js";

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** 32-bit FNV-1a of the ASCII text. */
function fnv1a32(text: string): number {
  let hash = FNV_OFFSET;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), FNV_PRIME);
  return hash >>> 0;
}

/**
 * Hash of name and image, lower-case hex without padding. Upstream hashes Go's debug print of the JSON bytes, hence the
 * decimal list. Source: status rules, section 21.
 */
export function containerHash(container: { name: string; image?: string }): string {
  const json = Buffer.from(goJson({ image: container.image ?? "", name: container.name }), "utf8");
  return fnv1a32(`([]uint8)[${json.join(" ")}]`).toString(16);
}
