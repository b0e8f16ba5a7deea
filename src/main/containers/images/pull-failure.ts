// Builds the reason and message of a failed pull for the pod status. The message names every attempt; an unavailable
// registry and an invalid signature keep reasons of their own.

import { CriError, CriUnavailableError } from "../../../shared/kubernetes/cri/errors.js";

type PullFailureReason = "ErrImagePull" | "RegistryUnavailable" | "SignatureValidationFailed";

export class PullFailure extends Error {
  override readonly name = "PullFailure";
  readonly reason: PullFailureReason;

  /** At least one. */
  constructor(readonly causes: readonly Error[]) {
    const texts = [...new Set(causes.map(textOf))];
    super(texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`, { cause: causes.at(-1) });
    this.reason = PREFIXES.find((prefix) => this.message.startsWith(prefix)) ?? "ErrImagePull";
  }
}

/** Runtimes begin their text with these for more specific failures. */
const PREFIXES = ["RegistryUnavailable", "SignatureValidationFailed"] as const;
const EXPLAINED = {
  RegistryUnavailable: "because the registry is unavailable",
  SignatureValidationFailed: "because the signature validation failed",
};

/** The image's or the registry's fault; not the runtime's absence, and not the pod's own end. */
export function countsAsPullFailure(error: unknown, signal: AbortSignal): error is Error {
  return error instanceof CriError && !(error instanceof CriUnavailableError) && !signal.aborted;
}

/** The message of the container's waiting state. */
export function pullFailureMessage(image: string, failure: PullFailure): string {
  const { reason, message } = failure;
  if (reason === "ErrImagePull") return message;
  return `image pull failed for ${image} ${EXPLAINED[reason]}${message.slice(reason.length)}`;
}

function textOf(error: Error): string {
  return error instanceof CriError ? error.details : error.message;
}
