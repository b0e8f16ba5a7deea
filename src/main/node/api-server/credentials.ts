// The credentials of the API server of a node without a cluster: its authority, kept from the first start on; its
// serving certificate and those of its clients, made anew at each start; and a kubeconfig for each client.
// Invariant: keys and kubeconfigs are for root only, from the moment they exist.

import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { READERS_GROUP, readerNames } from "../../../shared/contracts/apiserver.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { Authority, type CertificatePair } from "./authority.js";
import { kubeconfigText } from "./kubeconfig.js";
import type { ApiServerFiles } from "./paths.js";

const AUTHORITY = "nodelet-api";
const DAY_MS = 24 * 3600_000;
/** Life of certificates that are made at each start: longer than any process runs. */
const OWN_LIFE_MS = 3650 * DAY_MS;
const CLIENT_LIFE_MS = 365 * DAY_MS;
const SECRET = 0o600;
/** As in certificates, and in names of files. */
const READER = /^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/;

export interface CredentialsDeps {
  files: ApiServerFiles;
  nodeName: string;
  /** Address that the port listens on; 0.0.0.0 and :: stand for all addresses. */
  address: string;
  port: number;
  clock: Clock;
  log: Pick<Logger, "info" | "warn">;
}

/** Makes the files that are missing. @throws OperatorError for a file that cannot be used */
export async function makeCredentials(deps: CredentialsDeps): Promise<void> {
  const { files, nodeName, address, port, clock, log } = deps;
  const authority = await authorityOf(files, clock);
  const everywhere = address === "0.0.0.0" || address === "::";
  const host = everywhere ? "127.0.0.1" : address;
  const names = [...new Set(["127.0.0.1", "::1", "localhost", host, nodeName, hostname()])];
  const serving = authority.servingCertificate(names, nodeName, { lifeMs: OWN_LIFE_MS });
  await atomicWrite(files.servingKey, serving.key, { mode: SECRET });
  await atomicWrite(files.servingCert, serving.cert, { mode: 0o644 });
  const server = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const write = (path: string, pair: CertificatePair): Promise<void> =>
    atomicWrite(path, kubeconfigText(server, authority.ca, pair, nodeName), { mode: SECRET });
  const node = [`system:node:${nodeName}`, ["system:nodes"], { lifeMs: OWN_LIFE_MS }] as const;
  await write(files.kubelet, authority.clientCertificate(...node));
  await write(files.admin, authority.clientCertificate("admin", ["system:masters"], { lifeMs: CLIENT_LIFE_MS }));
  for (const name of await readersOf(files.readers, log)) {
    const pair = authority.clientCertificate(name, [READERS_GROUP], { lifeMs: CLIENT_LIFE_MS });
    await write(join(files.directory, `${name}.kubeconfig`), pair);
  }
  log.info(`the API of this node is at ${server}: kubectl --kubeconfig ${files.admin} get nodes`);
}

async function authorityOf(files: ApiServerFiles, clock: Clock): Promise<Authority> {
  const [cert, key] = await Promise.all([readIfThere(files.caCert), readIfThere(files.caKey)]);
  if (cert !== undefined && key !== undefined) {
    try {
      const certificate = new X509Certificate(cert);
      const kept = new Authority(clock, AUTHORITY, { cert, key });
      if (Date.parse(certificate.validTo) - clock.now() > CLIENT_LIFE_MS) return kept;
    } catch (cause) {
      const remedy = "remove both, and new ones are made; every kubeconfig has to be copied again then";
      throw new OperatorError(`${files.caCert} and ${files.caKey} cannot be used: ${remedy}`, { cause });
    }
  }
  const made = new Authority(clock, AUTHORITY);
  await atomicWrite(files.caKey, made.key, { mode: SECRET });
  await atomicWrite(files.caCert, made.ca, { mode: 0o644 });
  return made;
}

async function readersOf(path: string, log: Pick<Logger, "warn">): Promise<string[]> {
  const names = readerNames((await readIfThere(path)) ?? "");
  const [good, bad] = [names.filter(isReaderName), names.filter((name) => !isReaderName(name))];
  if (bad.length > 0) log.warn(`${path}: ${bad.join(", ")} cannot be names of readers`);
  return good;
}

const isReaderName = (name: string): boolean => READER.test(name) && name !== "admin" && name !== "kubelet";

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
