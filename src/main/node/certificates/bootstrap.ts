// TLS bootstrap of a new node. It requests a client certificate with the bootstrap kubeconfig and waits until it is
// signed. Then it writes the kubeconfig that the kubelet uses from then on.
// Invariant: pods from files run meanwhile; a restart continues with the same key and the same request.

import { mkdir, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { Backoff } from "../../../shared/base/turns/backoff.js";
import type { DescribedCertificate } from "../../../shared/contracts/tasks.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import { readTextIfThere } from "../../../shared/io/fs/regular-file.js";
import type { ClientConfig, Source } from "../../../shared/kubernetes/api/client/config.js";
import { KubeconfigError } from "../../../shared/kubernetes/api/client/kubeconfig/errors.js";
import type { ApiClient } from "../../../shared/kubernetes/api/client/port.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { CertificateStore } from "./certificate-store.js";
import type { CertificateTasks } from "./certificate-tasks.js";
import { CertificateRequestError, requestCertificate } from "./request-certificate.js";

export interface BootstrapDeps {
  kubeconfig: string;
  /** "": there is none. */
  bootstrapKubeconfig: string;
  certDir: string;
  nodeName: string;
  store: Pick<CertificateStore, "keep" | "current">;
  tasks: CertificateTasks;
  load: (path: string) => Promise<ClientConfig>;
  connect: (config: ClientConfig) => ApiClient;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
}

const SIGNER = "kubernetes.io/kube-apiserver-client-kubelet";
const RETRY = { initialMs: 1000, maxMs: 30_000 };

/**
 * The configuration to live with. Returns when there is one, however long that takes. Rejects with KubeconfigError, or
 * with the signal's reason.
 */
export async function bootstrap(deps: BootstrapDeps): Promise<ClientConfig> {
  const { kubeconfig, bootstrapKubeconfig, load, log, clock, signal } = deps;
  const usable = await usableConfig(deps);
  if (usable !== undefined) return usable;
  const config = await load(bootstrapKubeconfig);
  log.info(`requesting a client certificate from ${config.server} with ${bootstrapKubeconfig}`);
  const client = deps.connect(config);
  try {
    for (const backoff = new Backoff(RETRY); ;) {
      try {
        await ask(client, deps);
        break;
      } catch (error) {
        signal.throwIfAborted();
        // The verdict on a request is for its key: the next one is of another.
        if (error instanceof CertificateRequestError) await unlink(keyFile(deps)).catch(() => undefined);
        const what = errorText(error);
        log.error({ err: error }, `no client certificate for this node: ${what}; trying again`);
        await clock.sleep(backoff.next(), signal);
      }
    }
  } finally {
    client.close();
  }
  await mkdir(dirname(kubeconfig), { recursive: true, mode: 0o755 });
  await atomicWrite(kubeconfig, kubeconfigText(config, deps.store.current), { mode: 0o600 });
  await unlink(keyFile(deps)).catch(() => undefined);
  log.info(`this node has its client certificate; wrote ${kubeconfig}`);
  return await load(kubeconfig);
}

/**
 * Reads --kubeconfig. Undefined if the file is missing, or its certificate has expired and bootstrap can request a new
 * one.
 */
async function usableConfig(deps: BootstrapDeps): Promise<ClientConfig | undefined> {
  const { kubeconfig, bootstrapKubeconfig, load, tasks, clock, log } = deps;
  const canAsk = bootstrapKubeconfig !== "";
  if (canAsk && (await readTextIfThere(kubeconfig)) === undefined) return undefined;
  let config: ClientConfig;
  try {
    config = await load(kubeconfig);
  } catch (error) {
    if (!canAsk || !(error instanceof KubeconfigError)) throw error;
    log.warn(`${error.message}: creating it again with ${bootstrapKubeconfig}`);
    return undefined;
  }
  if (!canAsk || config.clientCertificate === undefined) return config;
  const described = await describeOf(config, tasks);
  if (described !== undefined && described.notAfter > clock.now()) return config;
  log.warn(`the client certificate of ${kubeconfig} is missing or has expired; requesting a new one`);
  return undefined;
}

/** The client certificate that a kubeconfig brings; undefined when there is none that can be read. */
export async function describeOf(
  { clientCertificate }: ClientConfig,
  tasks: CertificateTasks,
): Promise<DescribedCertificate | undefined> {
  const pem = clientCertificate === undefined ? undefined : await textOf(clientCertificate.certificate);
  return pem === undefined ? undefined : await tasks.describe(pem);
}

async function textOf(source: Source): Promise<string | undefined> {
  return "data" in source ? source.data : await readTextIfThere(source.file);
}

async function ask(client: ApiClient, deps: BootstrapDeps): Promise<void> {
  const { tasks, nodeName, store, clock, signal } = deps;
  const subject = { commonName: `system:node:${nodeName}`, organizations: ["system:nodes"] };
  const kept = await readTextIfThere(keyFile(deps));
  const { key, request, keyDigest } = await tasks.request(omitUndefined({ subject, key: kept }));
  if (kept === undefined) await atomicWrite(keyFile(deps), key, { mode: 0o600 });
  const wanted = {
    name: `node-csr-${keyDigest.slice(0, 43)}`,
    request,
    signerName: SIGNER,
    usages: ["digital signature", "client auth"],
  };
  await store.keep(await requestCertificate(wanted, { client, clock, signal }), key);
}

/** The key of a request under way. */
function keyFile({ certDir }: BootstrapDeps): string {
  return join(certDir, "kubelet-client.key.tmp");
}

/** Names are upstream's. A JSON string is a YAML string. */
function kubeconfigText(config: ClientConfig, certificate: string): string {
  const { server, tlsServerName, proxyUrl, certificateAuthority: ca } = config;
  const line = (name: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`    ${name}: ${JSON.stringify(value)}`];
  return [
    "apiVersion: v1",
    "kind: Config",
    "clusters:",
    "- name: default-cluster",
    "  cluster:",
    ...line("server", server),
    ...line("tls-server-name", tlsServerName),
    ...line("proxy-url", proxyUrl),
    ...(config.insecureSkipTlsVerify === true ? ["    insecure-skip-tls-verify: true"] : []),
    ...(ca === undefined
      ? []
      : "file" in ca
        ? line("certificate-authority", ca.file)
        : line("certificate-authority-data", Buffer.from(ca.data).toString("base64"))),
    "users:",
    "- name: default-auth",
    "  user:",
    ...line("client-certificate", certificate),
    ...line("client-key", certificate),
    "contexts:",
    "- name: default-context",
    "  context:",
    "    cluster: default-cluster",
    "    user: default-auth",
    "current-context: default-context",
    "",
  ].join("\n");
}
