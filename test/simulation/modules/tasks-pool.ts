// The agent's pool of threads for tasks (src/main/threads/tasks-pool.ts), which a node with an API server of its own
// makes for its certificates: they are always the same ones.

import type { IssueCertificatesJob, IssueCertificatesResult } from "../../../src/shared/contracts/tasks.js";
import { tasksInThisThread } from "../../support/one-thread/tasks.js";
import { AUTHORITY, CERTIFICATE, READER_CERTIFICATES } from "../world/certificates.js";

export { TaskDeadlineError, TaskThreadError } from "../../../src/main/threads/tasks-pool.js";

/** Work with keys takes so long on a small machine, ms. */
const KEYS_MS = 100;

export function createTasksPool(): object {
  const plain = tasksInThisThread();
  return {
    ...plain,
    run: async (name: string, job: object, options: { deadlineMs: number }): Promise<unknown> => {
      if (name !== "issueCertificates") return plain.run("describeCertificate", job as { pem: string }, options);
      await new Promise((resolve) => setTimeout(resolve, KEYS_MS));
      const { wanted } = job as IssueCertificatesJob;
      return { authority: AUTHORITY, issued: wanted.map(issued) } satisfies IssueCertificatesResult;
    },
  };
}

function issued({ subject: { commonName } }: IssueCertificatesJob["wanted"][number]): typeof CERTIFICATE {
  const certificate = READER_CERTIFICATES[commonName];
  return certificate === undefined ? CERTIFICATE : { ...CERTIFICATE, certificate };
}
