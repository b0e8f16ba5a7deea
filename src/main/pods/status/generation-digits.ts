// The digits of observedGeneration where metadata.generation is beyond 2^53: a static pod may name any. Nearly no
// status has them.

import type { PodStatus } from "../../../shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { digitsOf, withDigits, type WideInteger } from "../../../shared/kubernetes/api/wide-integers.js";

/** The status itself, with the digits of its pod's generation beside it. */
export function withGenerationDigits(status: PodStatus, { wideIntegers }: Pod): PodStatus {
  const wide = wideIntegers?.find(({ path }) => path.join(".") === "metadata.generation");
  return wide === undefined ? status : withDigits(status, places(status, wide.digits));
}

/** The body of a status patch, with the digits that the status has. */
export function patchWithDigits<Body extends { status: object }>(body: Body, status: PodStatus): Body {
  const [wide] = digitsOf(status) ?? [];
  if (wide === undefined) return body;
  const below = places(body.status, wide.digits);
  return withDigits(
    body,
    below.map(({ path, digits }) => ({ path: ["status", ...path], digits })),
  );
}

function places(status: Partial<PodStatus>, digits: string): WideInteger[] {
  const conditions = (status.conditions ?? []).map((_, index) => ["conditions", index]);
  return [[], ...conditions].map((path) => ({ path: [...path, "observedGeneration"], digits }));
}
