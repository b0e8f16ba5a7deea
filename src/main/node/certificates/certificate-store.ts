// Stores one kind of certificate: <prefix>-<time>.pem holds certificate and key, <prefix>-current.pem links to the
// newest.
// Invariant: at every moment, the link leads to a certificate and its own key.

import { mkdir, rename, symlink, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import type { DescribedCertificate } from "../../../shared/contracts/tasks.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import { readTextIfThere } from "../../../shared/io/fs/regular-file.js";
import { currentPair } from "./certificate-files.js";
import type { CertificateTasks } from "./certificate-tasks.js";

export interface CertificateStoreDeps {
  /** --cert-dir. */
  directory: string;
  /** "kubelet-client", "kubelet-server". */
  prefix: string;
  tasks: CertificateTasks;
  clock: Clock;
}

export class CertificateStore {
  constructor(private readonly deps: CertificateStoreDeps) {}

  /** The path that always leads to the newest certificate and its key. */
  get current(): string {
    return currentPair(this.deps.directory, this.deps.prefix);
  }

  /** The stored certificate; undefined if there is none, or none that is usable. */
  async read(): Promise<DescribedCertificate | undefined> {
    const pem = await readTextIfThere(this.current);
    if (pem === undefined) return undefined;
    const described = await this.deps.tasks.describe(pem);
    return described?.hasKey === true ? described : undefined;
  }

  /**
   * Replaces the current pair.
   * @param certificate PEM, the leaf first; @param key PEM
   * @throws OperatorError when the certificate is of another key: the pair before it stays
   */
  async keep(certificate: string, key: string): Promise<void> {
    const { directory, prefix, clock, tasks } = this.deps;
    const described = await tasks.describe(`${certificate.trimEnd()}\n${key}`);
    if (described?.hasKey !== true)
      throw new OperatorError(
        `the new ${prefix} certificate is of another key than the request's: the certificate before it stays in use`,
      );
    const stamp = new Date(clock.now()).toISOString().slice(0, 19).replace("T", "-").replaceAll(":", "-");
    const name = `${prefix}-${stamp}.pem`;
    await mkdir(directory, { recursive: true, mode: 0o755 });
    await atomicWrite(join(directory, name), `${certificate.trimEnd()}\n${key.trimEnd()}\n`, { mode: 0o600 });
    const link = `${this.current}.new`;
    await unlink(link).catch(() => undefined);
    await symlink(name, link);
    await rename(link, this.current);
  }
}
