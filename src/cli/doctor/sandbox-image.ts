// The check of the sandbox image (pause): the runtime needs it for every pod. Pure.

import { parseImageName, readImageName } from "../../shared/kubernetes/api/image-name.js";
import { bad, ok, type Result } from "./check.js";

const CHECK = "sandbox image";
const PAUSE = /(?:^|\/)pause(?:[:@-]|$)/;

/**
 * @param image what the runtime starts sandboxes with
 * @param images names of the images of the runtime; undefined: not known
 */
export function sandboxImage(image: string, images: readonly string[] | undefined): Result {
  const read = readImageName(image);
  if (typeof read === "string") {
    return bad(
      "error",
      CHECK,
      `${JSON.stringify(image)} is no name of an image: ${read}`,
      "no pod can start",
      "set sandbox_image (containerd 1.x), or pinned_images.sandbox (containerd 2), to registry.k8s.io/pause:3.10.2",
    );
  }
  if (images === undefined) return ok(CHECK, image);
  const wanted = withHost(image);
  if (images.some((name) => withHost(name) === wanted)) return ok(CHECK, `${image} is here`);
  const others = images.filter((name) => PAUSE.test(name));
  const [other] = others;
  if (other === undefined) return ok(CHECK, `${image} is not here yet: the first pod pulls it`);
  return bad(
    "warning",
    CHECK,
    `the runtime starts pods with ${image}, which is not here; ${other} is`,
    "the next pod pulls it; without the registry no pod starts",
    `ctr -n k8s.io images pull ${image}; or let the runtime's configuration name ${other}`,
  );
}

/** "pause:3.10" → "docker.io/library/pause:3.10"; a text that is no image name as it is. */
function withHost(name: string): string {
  const read = parseImageName(name);
  if (read === undefined) return name;
  const { registry, repository, tag, digest } = read;
  return `${registry}/${repository}${tag === undefined ? "" : `:${tag}`}${digest === undefined ? "" : `@${digest}`}`;
}
