// Rules of image pull credential verification: policy and allowlist.

import { quoteStart } from "../../../shared/base/text/quote.js";
import { parseImageName } from "../../../shared/kubernetes/api/image-name.js";
import type { Violation } from "../violation.js";
import { needsGate, notOneOf } from "./check.js";
import type { ConfigView } from "./rule.js";

const GATE = "KubeletEnsureSecretPulledImages";
const POLICY = "imagePullCredentialsVerificationPolicy";
const ALLOWLIST = "preloadedImagesVerificationAllowlist";
const WITH_ALLOWLIST = "NeverVerifyAllowlistedImages";
const POLICIES = ["NeverVerify", "NeverVerifyPreloadedImages", WITH_ALLOWLIST, "AlwaysVerify"];

export function* imageCredentials(config: ConfigView): Iterable<Violation> {
  const policy = config.get(POLICY) ?? "";
  const allowlist = config.get(ALLOWLIST) ?? [];
  if (!config.gate(GATE)) {
    if (policy !== "") yield needsGate(POLICY, GATE);
    if (allowlist.length > 0) yield needsGate(ALLOWLIST, GATE);
    return;
  }
  if (policy !== "" && !POLICIES.includes(policy)) yield { path: POLICY, message: notOneOf(policy, POLICIES) };
  if (allowlist.length > 0 && policy !== WITH_ALLOWLIST) {
    yield { path: ALLOWLIST, message: `has an effect only with ${POLICY}: ${WITH_ALLOWLIST}` };
  }
  for (const [index, entry] of allowlist.entries()) {
    const problem = allowlistProblem(entry);
    if (problem !== undefined) {
      yield { path: `${ALLOWLIST}[${index}]`, message: `${quoteStart(entry)} ${problem}` };
    }
  }
}

/**
 * Problem of an allowlist entry. Valid entries are a name without tag or digest, and a prefix that ends in a slash and
 * a star.
 */
function allowlistProblem(entry: string): string | undefined {
  if (entry === "") return "is empty; set an image name, or a prefix such as registry.example/team/*";
  if (entry.trim() !== entry) return "has leading or trailing spaces";
  const isPrefix = entry.endsWith("/*");
  const name = isPrefix ? entry.slice(0, -2) : entry;
  if (name === "") return "would match every image; use NeverVerify for that";
  if (name.includes("*")) return 'has "*" in a place other than a final "/*"';
  // A prefix may be a registry alone, which is no image's name.
  const image = parseImageName(name) ?? (isPrefix ? parseImageName(`${name}/x`) : undefined);
  if (image === undefined) return "is not an image name";
  if (isPrefix && parseImageName(`${name}/x`) !== undefined) return undefined;
  return image.tag === undefined && image.digest === undefined ? undefined : "has a tag or a digest; remove it";
}
