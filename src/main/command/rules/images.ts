// Collection and pulling of images.
import { formatDuration } from "../duration.js";
import type { ConfigView, Violation } from "./rule.js";
import { durationNotNegative, inRange, needsGate, notOneOf, quote } from "./check.js";
import { parseImageName } from "../../../shared/api/image-name.js";

export function* images(config: ConfigView): Iterable<Violation> {
  yield* thresholds(config);
  yield* ages(config);
  yield* pulls(config);
}

function* thresholds(config: ConfigView): Iterable<Violation> {
  yield* inRange(config, "imageGCHighThresholdPercent", 0, 100, "percentage");
  yield* inRange(config, "imageGCLowThresholdPercent", 0, 100, "percentage");
  const low = config.get("imageGCLowThresholdPercent");
  const high = config.get("imageGCHighThresholdPercent");
  if (low === undefined || high === undefined || low < high) return;
  yield {
    path: "imageGCLowThresholdPercent",
    message: `${low} is not below imageGCHighThresholdPercent, which is ${high}: image garbage collection would have no effect`,
  };
}

function* ages(config: ConfigView): Iterable<Violation> {
  yield* durationNotNegative(config, "imageMinimumGCAge");
  yield* durationNotNegative(config, "imageMaximumGCAge");
  const maximum = config.get("imageMaximumGCAge") ?? 0;
  const minimum = config.get("imageMinimumGCAge") ?? 0;
  if (maximum !== 0 && !config.gate("ImageMaximumGCAge")) yield needsGate("imageMaximumGCAge", "ImageMaximumGCAge");
  if (maximum > 0 && maximum <= minimum) {
    yield {
      path: "imageMaximumGCAge",
      message: `${formatDuration(maximum)} is not longer than imageMinimumGCAge, which is ${formatDuration(minimum)}; 0 turns it off`,
    };
  }
}

function* pulls(config: ConfigView): Iterable<Violation> {
  yield* inRange(config, "maxParallelImagePulls", 1);
  const parallel = config.get("maxParallelImagePulls") ?? 1;
  if (parallel > 1 && config.get("serializeImagePulls") === true) {
    yield {
      path: "maxParallelImagePulls",
      message: `${parallel} parallel pulls contradict serializeImagePulls: true; set serializeImagePulls to false or this field to 1`,
    };
  }
}

// Rules of image pull credential verification: policy and allowlist.

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
      yield { path: `${ALLOWLIST}[${index}]`, message: `${quote(entry)} ${problem}` };
    }
  }
}

/** Problem of an allowlist entry. Valid entries are a name without tag or digest, and a prefix that ends in a slash and a star. */
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
