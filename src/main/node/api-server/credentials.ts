// The credentials of the API server of a node without a cluster: its authority, kept from the first start on; its
// serving certificate and those of its clients, made anew at each start; and a kubeconfig for each client. Keys and
// certificates are made by the tasks pool.
// Invariant: keys and kubeconfigs are for root only, from the moment they exist.

import { access, readdir, rm } from "node:fs/promises";
import { isIP } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { READERS_GROUP, readerNames } from "../../../shared/contracts/apiserver.js";
import type {
  IssueCertificatesJob,
  IssueCertificatesResult,
  MakeSelfSignedResult,
  WantedCertificate,
} from "../../../shared/contracts/tasks.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import { readTextIfThere } from "../../../shared/io/fs/regular-file.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { AuthorityTasks } from "../certificates/certificate-tasks.js";
import { clientCertificateOf, kubeconfigText } from "./kubeconfig.js";
import type { ApiServerFiles } from "./paths.js";

const AUTHORITY = "nodelet-api";
const DAY_MS = 24 * 3600_000;
/** Life of certificates that are made at each start: longer than any process runs. */
const OWN_LIFE_MS = 3650 * DAY_MS;
const CLIENT_LIFE_MS = 365 * DAY_MS;
/** Certificates begin in the past, for clocks that differ. */
const EARLIER_MS = 5 * 60_000;
const SECRET = 0o600;
const SUFFIX = ".kubeconfig";
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
  /** Work that makes certificates, with what makes them; that may end with the work. */
  withTasks: <T>(work: (tasks: AuthorityTasks) => Promise<T>) => Promise<T>;
}

/** Makes all files anew but the authority's. @throws OperatorError for files that cannot be used */
export async function makeCredentials(deps: CredentialsDeps): Promise<void> {
  const { files, nodeName, log } = deps;
  const names = [...new Set(["127.0.0.1", "::1", "localhost", hostOf(deps), nodeName, hostname()])];
  const [ips, dnsNames] = [names.filter((name) => isIP(name) !== 0), names.filter((name) => isIP(name) === 0)];
  const readers = usable(readerNames((await readTextIfThere(files.readers)) ?? ""), deps);
  const [kubelet, admin] = [
    { commonName: `system:node:${nodeName}`, organizations: ["system:nodes"] },
    { commonName: "admin", organizations: ["system:masters"] },
  ];
  const wanted = [
    certificate(deps, "server", { commonName: nodeName, dnsNames, ips }, OWN_LIFE_MS),
    certificate(deps, "client", kubelet, OWN_LIFE_MS),
    certificate(deps, "client", admin, CLIENT_LIFE_MS),
    ...readers.map((name) => readerCertificate(deps, name)),
  ];
  const { authority, issued } = await issue(deps, wanted);
  await atomicWrite(files.caKey, authority.key, { mode: SECRET });
  await atomicWrite(files.caCert, authority.certificate, { mode: 0o644 });
  const [serving, ...clients] = issued;
  await atomicWrite(files.servingKey, serving?.key ?? "", { mode: SECRET });
  await atomicWrite(files.servingCert, serving?.certificate ?? "", { mode: 0o644 });
  const paths = [files.kubelet, files.admin, ...readers.map((name) => readerFile(files, name))];
  await writeKubeconfigs(deps, authority, paths, clients);
  log.info(`the API of this node is at ${serverOf(deps)}: kubectl --kubeconfig ${files.admin} get nodes`);
}

/**
 * While the server runs: makes the kubeconfigs of readers who have none, and removes those of all other readers, also
 * of those who were taken out of the file while no server ran.
 */
export async function updateReaders(deps: CredentialsDeps, names: readonly string[]): Promise<void> {
  const { files, log } = deps;
  const wanted = usable(names, deps);
  for (const path of await readersKubeconfigs(deps, wanted)) await rm(path, { force: true });
  const missing: string[] = [];
  for (const name of wanted) if (!(await isThere(readerFile(files, name)))) missing.push(name);
  if (missing.length === 0) return;
  const { authority, issued } = await issue(
    deps,
    missing.map((name) => readerCertificate(deps, name)),
  );
  const paths = missing.map((name) => readerFile(files, name));
  await writeKubeconfigs(deps, authority, paths, issued);
  log.info(`made the kubeconfigs of readers of the API: ${paths.join(", ")}`);
}

/** By the authority that there is; a missing or old one is made anew. */
async function issue(deps: CredentialsDeps, wanted: WantedCertificate[]): Promise<IssueCertificatesResult> {
  const { files, clock, withTasks } = deps;
  const [cert, key] = await Promise.all([readTextIfThere(files.caCert), readTextIfThere(files.caKey)]);
  return await withTasks(async (tasks) => {
    const made = { subject: { commonName: AUTHORITY }, ...lifeOf(clock, OWN_LIFE_MS) };
    if (cert === undefined || key === undefined) return await tasks.issue({ authority: made, wanted });
    const life = ((await tasks.describe(cert))?.notAfter ?? Infinity) - clock.now();
    const authority: IssueCertificatesJob["authority"] = life > CLIENT_LIFE_MS ? { certificate: cert, key } : made;
    try {
      return await tasks.issue({ authority, wanted });
    } catch (cause) {
      const remedy = "remove both, and new ones are made; every kubeconfig has to be copied again then";
      throw new OperatorError(`${files.caCert} and ${files.caKey} cannot be used: ${remedy}`, { cause });
    }
  });
}

function certificate(
  { clock }: CredentialsDeps,
  usage: WantedCertificate["usage"],
  subject: WantedCertificate["subject"],
  lifeMs: number,
): WantedCertificate {
  return { subject, usage, ...lifeOf(clock, lifeMs) };
}

function readerCertificate(deps: CredentialsDeps, name: string): WantedCertificate {
  return certificate(deps, "client", { commonName: name, organizations: [READERS_GROUP] }, CLIENT_LIFE_MS);
}

function lifeOf(clock: Clock, lifeMs: number): { notBefore: number; notAfter: number } {
  return { notBefore: clock.now() - EARLIER_MS, notAfter: clock.now() + lifeMs };
}

function hostOf({ address }: CredentialsDeps): string {
  return address === "0.0.0.0" || address === "::" ? "127.0.0.1" : address;
}

function serverOf(deps: CredentialsDeps): string {
  const host = hostOf(deps);
  return `https://${host.includes(":") ? `[${host}]` : host}:${deps.port}`;
}

async function writeKubeconfigs(
  deps: CredentialsDeps,
  authority: MakeSelfSignedResult,
  paths: readonly string[],
  pairs: readonly MakeSelfSignedResult[],
): Promise<void> {
  for (const [index, { certificate: cert, key }] of pairs.entries()) {
    const text = kubeconfigText(serverOf(deps), authority.certificate, { cert, key }, deps.nodeName);
    await atomicWrite(paths[index] ?? "", text, { mode: SECRET });
  }
}

function readerFile({ directory }: ApiServerFiles, name: string): string {
  return join(directory, `${name}${SUFFIX}`);
}

/**
 * Kubeconfigs that were made for readers other than these. Another file of that folder, such as a copy of an
 * administrator's kubeconfig, is none.
 */
async function readersKubeconfigs({ files, withTasks }: CredentialsDeps, but: readonly string[]): Promise<string[]> {
  const { directory } = files;
  const names = (await readdir(directory, { withFileTypes: true })).flatMap((entry) => {
    const name = entry.isFile() && entry.name.endsWith(SUFFIX) ? entry.name.slice(0, -SUFFIX.length) : "";
    return isReaderName(name) && !but.includes(name) ? [name] : [];
  });
  if (names.length === 0) return [];
  return await withTasks(async (tasks) => {
    const found: string[] = [];
    for (const name of names) {
      const path = readerFile(files, name);
      const certificate = clientCertificateOf((await readTextIfThere(path)) ?? "");
      const { commonName, organizations } = (await tasks.describe(certificate ?? "")) ?? {};
      if (commonName === name && organizations?.join() === READERS_GROUP) found.push(path);
    }
    return found;
  });
}

function usable(names: readonly string[], { files, log }: CredentialsDeps): string[] {
  const bad = names.filter((name) => !isReaderName(name));
  if (bad.length > 0) log.warn(`${files.readers}: ${bad.join(", ")} cannot be names of readers`);
  return names.filter(isReaderName);
}

const isReaderName = (name: string): boolean => READER.test(name) && name !== "admin" && name !== "kubelet";

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
