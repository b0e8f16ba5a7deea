// The work with keys and certificates that the tasks pool does.

import type {
  DescribedCertificate,
  IssueCertificatesJob,
  IssueCertificatesResult,
  MakeCertificateRequestJob,
  MakeCertificateRequestResult,
  MakeSelfSignedJob,
  MakeSelfSignedResult,
} from "../../../shared/contracts/tasks.js";
import type { TasksPool } from "../../threads/tasks-pool.js";

export interface CertificateTasks {
  request(job: MakeCertificateRequestJob): Promise<MakeCertificateRequestResult>;
  selfSigned(job: MakeSelfSignedJob): Promise<MakeSelfSignedResult>;
  /** Undefined if the text is not a certificate. */
  describe(pem: string): Promise<DescribedCertificate | undefined>;
}

/** For a node with an authority of its own. */
export interface AuthorityTasks extends Pick<CertificateTasks, "describe"> {
  issue(job: IssueCertificatesJob): Promise<IssueCertificatesResult>;
}

/** Loading the library and making a key takes a tenth of a second; the rest is for a busy machine. */
const DEADLINE_MS = 30_000;

export function certificateTasks(pool: Pick<TasksPool, "run">): CertificateTasks & AuthorityTasks {
  const options = { deadlineMs: DEADLINE_MS };
  return {
    request: (job) => pool.run("makeCertificateRequest", job, options),
    selfSigned: (job) => pool.run("makeSelfSigned", job, options),
    issue: (job) => pool.run("issueCertificates", job, options),
    describe: (pem) => pool.run("describeCertificate", { pem }, options),
  };
}
