// imagePullCredentialsVerificationPolicy: which images that are there a pod must prove to have access to.

import type { ImageSettings } from "../../../command/views/images.js";
import { fullRepository } from "../image-name.js";

export type VerificationPolicy = ImageSettings["imagePullCredentialsVerificationPolicy"];

/** `image` as a container names it; `pulledByAgent`: it, or its like, did not come with the machine. */
export type NeedsProof = (image: string, pulledByAgent: boolean) => boolean;

/** `allowlist`: images without tag and digest, or prefixes that end in a slash and a star. */
export function verificationPolicy(policy: VerificationPolicy, allowlist: readonly string[]): NeedsProof {
  switch (policy) {
    case "NeverVerify":
      return () => false;
    case "NeverVerifyPreloadedImages":
      return (_image, pulledByAgent) => pulledByAgent;
    case "NeverVerifyAllowlistedImages": {
      const allowed = matcherOf(allowlist);
      return (image, pulledByAgent) => pulledByAgent || !allowed(fullRepository(image));
    }
    case "AlwaysVerify":
      return () => true;
  }
}

function matcherOf(allowlist: readonly string[]): (repository: string) => boolean {
  const isPrefix = (entry: string): boolean => entry.endsWith("/*");
  const exact = new Set(allowlist.filter((entry) => !isPrefix(entry)).map(fullRepository));
  const prefixes = allowlist.filter(isPrefix).map((entry) => fullRepository(`${entry.slice(0, -1)}x`).slice(0, -1));
  return (repository) => exact.has(repository) || prefixes.some((prefix) => repository.startsWith(prefix));
}
