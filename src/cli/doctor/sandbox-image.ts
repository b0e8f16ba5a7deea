// The check of the sandbox image (pause): the runtime needs it for every pod. Pure.

import { bad, ok, type Result } from "./check.js";

const CHECK = "sandbox image";
/** A name that a registry can have: host, path, tag, digest. */
const NAME = /^[\w][\w.-]*(?::\d+)?(?:\/[a-z\d][\w.-]*)*(?::[\w][\w.-]*)?(?:@sha256:[a-f\d]{64})?$/;
const PAUSE = /(?:^|\/)pause(?:[:@-]|$)/;

/**
 * @param image what the runtime starts sandboxes with
 * @param images names of the images of the runtime; undefined: not known
 */
export function sandboxImage(image: string, images: readonly string[] | undefined): Result {
  if (!NAME.test(image)) {
    return bad(
      "error",
      CHECK,
      `${JSON.stringify(image)} is no name of an image`,
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

/** "pause:3.10" → "docker.io/library/pause:3.10" */
function withHost(name: string): string {
  const slash = name.indexOf("/");
  const host = name.slice(0, Math.max(slash, 0));
  if (slash < 0) return `docker.io/library/${name}`;
  return /[.:]|^localhost$/.test(host) ? name : `docker.io/${name}`;
}
