// Why a volume has no certificate of its pod's own.

/**
 * No certificate exists, or its request was removed; the message appears in the pod's FailedMount event, with
 * upstream's text where upstream has one.
 */
export class PodCertificateError extends Error {
  override readonly name = "PodCertificateError";
}

/** The API server has not the resource: an operator has to turn it on. */
export class PodCertificatesNotServedError extends PodCertificateError {
  constructor(options?: ErrorOptions) {
    super(
      "the API server does not serve podcertificaterequests of certificates.k8s.io/v1 or v1beta1: one of 1.36 needs " +
        "--feature-gates=PodCertificateRequest=true and " +
        "--runtime-config=certificates.k8s.io/v1beta1/podcertificaterequests=true",
      options,
    );
  }
}
