// The self-signed serving certificate of a node without a configured one: kubelet.crt and kubelet.key in --cert-dir,
// created once.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import { readTextIfThere } from "../../../shared/io/fs/regular-file.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { ServingFiles } from "./certificate-files.js";
import type { CertificateTasks } from "./certificate-tasks.js";

export interface SelfSignedDeps {
  files: Pick<ServingFiles, "certFile" | "keyFile">;
  nodeName: string;
  /** Subject alternative names, beside the node name. */
  nodeIPs: readonly string[];
  tasks: CertificateTasks;
  clock: Clock;
  log: Logger;
}

const LIFE_MS = 365 * 24 * 3600_000;
/** Clocks of clients may be slow. */
const EARLIER_MS = 3600_000;

/** Keeps a pair that is there and not expired; makes one otherwise. */
export async function selfSignedCertificate(deps: SelfSignedDeps): Promise<void> {
  const { files, nodeName, nodeIPs, tasks, clock, log } = deps;
  const [certificate, key] = await Promise.all([readTextIfThere(files.certFile), readTextIfThere(files.keyFile)]);
  if (certificate !== undefined && key !== undefined) {
    const described = await tasks.describe(certificate);
    if (described !== undefined && described.notAfter > clock.now()) return;
    log.warn(`the serving certificate ${files.certFile} has expired or is not a certificate; creating a new one`);
  }
  const now = clock.now();
  const made = await tasks.selfSigned({
    subject: { commonName: `${nodeName}@${Math.floor(now / 1000)}`, dnsNames: [nodeName], ips: [...nodeIPs] },
    notBefore: now - EARLIER_MS,
    notAfter: now + LIFE_MS,
  });
  await atomicWrite(files.keyFile, made.key, { mode: 0o600 });
  await atomicWrite(files.certFile, made.certificate, { mode: 0o644 });
  log.info(`created a self-signed serving certificate, ${files.certFile}`);
}
