// When pods must go to save the node.
import type { ConfigView, Violation } from "./rule.js";
import { parseEviction } from "./parse-eviction.js";

export function eviction(config: ConfigView): Iterable<Violation> {
  return parseEviction({
    evictionHard: config.get("evictionHard"),
    evictionSoft: config.get("evictionSoft"),
    evictionSoftGracePeriod: config.get("evictionSoftGracePeriod"),
    evictionMinimumReclaim: config.get("evictionMinimumReclaim"),
  }).violations;
}
