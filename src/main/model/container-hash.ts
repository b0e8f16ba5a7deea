// The hash that decides whether a running container still is the one the manifest describes. It is a container
// annotation and must equal upstream's value. Otherwise a change of kubelet would restart every container of the node.

import { fnv32 } from "../../shared/base/hash/fnv32.js";
import { goJson } from "./go-json.js";

/**
 * Hash of name and image, lower-case hex without padding. Upstream hashes Go's debug print of the JSON bytes, hence the
 * decimal list.
 */
export function containerHash(container: { name: string; image?: string }): string {
  const json = Buffer.from(goJson({ image: container.image ?? "", name: container.name }), "utf8");
  return fnv32(`([]uint8)[${json.join(" ")}]`).toString(16);
}
