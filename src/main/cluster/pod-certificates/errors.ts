// Why a volume has no certificate of its pod's own.

/**
 * No certificate exists, or its request was removed; the message appears in the pod's FailedMount event, with
 * upstream's text where upstream has one.
 */
export class PodCertificateError extends Error {
  override readonly name = "PodCertificateError";
}
