// Keys and what is signed with them: certificate requests and self-signed certificates. The X.509 library is loaded with
// the first such job only: it costs a thread 100 ms and 16 MiB.
import type {
  MakeCertificateRequestJob,
  MakeCertificateRequestResult,
  MakeSelfSignedJob,
  MakeSelfSignedResult,
} from "../../../shared/contracts/tasks.js";

/** @throws Error for a key that is none. */
export async function makeCertificateRequest(job: MakeCertificateRequestJob): Promise<MakeCertificateRequestResult> {
  return await (await import("./x509.js")).certificateRequest(job);
}

export async function makeSelfSigned(job: MakeSelfSignedJob): Promise<MakeSelfSignedResult> {
  return await (await import("./x509.js")).selfSigned(job);
}
