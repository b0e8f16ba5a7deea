// Decides by imagePullPolicy whether an image is pulled.
import type { PullPolicy } from "../../shared/api/pod.js";
import { withDefaultTag } from "./image-name.js";

/** The API's default: Always for latest or no tag, else IfNotPresent. */
export function defaultPullPolicy(image: string): PullPolicy {
  return withDefaultTag(image).endsWith(":latest") ? "Always" : "IfNotPresent";
}
