// Requests one certificate with a CertificateSigningRequest and waits until it is approved and signed.

import { Scope } from "../../../shared/base/abort/scope.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import {
  isAlreadyExists,
  ApiConnectionError,
  ApiError,
  isNotFound,
} from "../../../shared/kubernetes/api/client/errors.js";
import { CERTIFICATE_SIGNING_REQUESTS } from "../../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../../shared/kubernetes/api/client/port.js";
import type { CertificateSigningRequest } from "../../../shared/kubernetes/api/objects.js";

/** The request was denied, failed, or received no response in time. */
export class CertificateRequestError extends Error {
  override readonly name = "CertificateRequestError";
}

export interface SigningRequest {
  /** Absent: the server chooses one. A request of this name that exists is waited for. */
  name?: string;
  /** PEM. */
  request: string;
  signerName: string;
  usages: string[];
}

export interface RequestDeps {
  client: ApiClient;
  clock: Clock;
  signal: AbortSignal;
}

/** Upstream's patience with those who approve. */
const WAIT_MS = 15 * 60_000;
/** Characters of a signed certificate and its chain, in base64: each connection reads them. @internal */
export const LONGEST_CERTIFICATE = 256 * 1024;
/** Interval between two reads while the watch fails. */
const LOOK_AGAIN_MS = 2000;

/** The certificate, PEM. Rejects with CertificateRequestError, ApiError, ApiConnectionError or the signal's reason. */
export async function requestCertificate(wanted: SigningRequest, deps: RequestDeps): Promise<string> {
  const name = await submit(wanted, deps);
  const deadline = deps.clock.monotonic() + WAIT_MS;
  for (;;) {
    const found = await readRequest(name, deps);
    const certificate = found === undefined ? undefined : verdictOf(found);
    if (certificate !== undefined) return certificate;
    if (deps.clock.monotonic() >= deadline) {
      throw new CertificateRequestError(
        `certificate request ${name} was not approved and signed within ${WAIT_MS / 60_000} min: ` +
          `look at it with "kubectl get csr ${name}" and approve it with "kubectl certificate approve ${name}"`,
      );
    }
    await changed(name, found?.metadata.resourceVersion, deps);
  }
}

async function submit({ name, request, signerName, usages }: SigningRequest, deps: RequestDeps): Promise<string> {
  const { client, signal } = deps;
  const object: CertificateSigningRequest = {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: name === undefined ? { generateName: "csr-" } : { name },
    spec: { request: Buffer.from(request).toString("base64"), signerName, usages },
  };
  try {
    const made = await client.create(CERTIFICATE_SIGNING_REQUESTS, object, { signal });
    return made.metadata.name ?? name ?? "";
  } catch (error) {
    // An earlier kubelet process created the request with the same key.
    if (name !== undefined && isAlreadyExists(error)) return name;
    throw error;
  }
}

/** Undefined while the server is unreachable. */
async function readRequest(
  name: string,
  { client, signal }: RequestDeps,
): Promise<CertificateSigningRequest | undefined> {
  try {
    return await client.get(CERTIFICATE_SIGNING_REQUESTS, { name }, { signal });
  } catch (error) {
    if (isNotFound(error)) {
      throw new CertificateRequestError(`certificate request ${name} was deleted before it was signed`, {
        cause: error,
      });
    }
    if (error instanceof ApiConnectionError || (error instanceof ApiError && error.status >= 429)) return undefined;
    throw error;
  }
}

function verdictOf({ metadata, status }: CertificateSigningRequest): string | undefined {
  const conditions = status?.conditions ?? [];
  const bad = conditions.find(({ type }) => type === "Denied" || type === "Failed");
  if (bad !== undefined) {
    const { type, reason = "", message = "" } = bad;
    throw new CertificateRequestError(
      `certificate request ${metadata.name ?? ""} was ${type === "Denied" ? "denied" : "not signed"}: ${reason}: ${message}`,
    );
  }
  if (!conditions.some(({ type }) => type === "Approved") || !status?.certificate) return undefined;
  if (status.certificate.length > LONGEST_CERTIFICATE) {
    throw new CertificateRequestError(
      `certificate request ${metadata.name ?? ""} was signed with ${status.certificate.length} characters; ` +
        `at most ${LONGEST_CERTIFICATE} are taken`,
    );
  }
  return Buffer.from(status.certificate, "base64").toString("utf8");
}

/** Returns when the request changed, or may have. */
async function changed(
  name: string,
  resourceVersion: string | undefined,
  { client, clock, signal }: RequestDeps,
): Promise<void> {
  if (resourceVersion !== undefined) {
    const timeoutSeconds = 60;
    const fieldSelector = `metadata.name=${name}`;
    using watch = new Scope(signal);
    try {
      const options = { fieldSelector, resourceVersion, timeoutSeconds, signal: watch.signal };
      for await (const event of client.watch(CERTIFICATE_SIGNING_REQUESTS, options)) {
        if (event.type !== "BOOKMARK") return;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ApiError) && !(error instanceof ApiConnectionError)) throw error;
    } finally {
      watch.abort(new Error("the watch of the certificate request ended"));
    }
  }
  await clock.sleep(LOOK_AGAIN_MS, signal);
}
