// The credentials of the node in its cluster. These are the kubeconfig (made by TLS bootstrap if there is none), the
// client certificate with its rotation, and the serving certificate that the cluster signs.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { DescribedCertificate } from "../../shared/contracts/tasks.js";
import { createApiClient, type ConnectedClient } from "../../shared/kubernetes/api/client/client.js";
import type { ClientConfig } from "../../shared/kubernetes/api/client/config.js";
import { loadClientConfig } from "../../shared/kubernetes/api/client/kubeconfig/load.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import { moduleLogger, type Logger } from "../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import type { Settings } from "../command/settings.js";
import { bootstrap, describeOf } from "../node/certificates/bootstrap.js";
import { CLIENT_PREFIX, SERVING_PREFIX, servingFiles } from "../node/certificates/certificate-files.js";
import type { CertificateManager } from "../node/certificates/certificate-manager.js";
import { CertificateStore } from "../node/certificates/certificate-store.js";
import { certificateTasks, type CertificateTasks } from "../node/certificates/certificate-tasks.js";
import { watchExpiry } from "../node/certificates/expiry-watch.js";
import { certificateMetrics } from "../node/certificates/metrics.js";
import { clientCertificate, servingCertificate, type RotationDeps } from "../node/certificates/rotation.js";
import type { NodeStatusLink } from "../node/start-node-status.js";
import type { TasksPool } from "../threads/tasks-pool.js";

export interface CredentialsDeps {
  settings: Settings;
  nodeName: string;
  tasks: TasksPool;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
  connect: (config: ClientConfig) => ConnectedClient;
  /** The kubelet must end: its certificate has expired for good. */
  giveUp: (reason: string) => void;
}

export interface NodeCertificates {
  client: ConnectedClient;
  /** The configuration of the client; other threads make their clients from it. */
  config: ClientConfig;
  /** Renewed certificates concern the thread; the node's addresses concern the serving certificate. */
  useNode(link: NodeStatusLink): void;
  stop(): Promise<void>;
}

/** Rejects with KubeconfigError or the signal's reason. */
export async function startCredentials(deps: CredentialsDeps): Promise<NodeCertificates> {
  const { settings, nodeName, clock, signal, connect } = deps;
  const log = moduleLogger(deps.log, "certificates");
  const tasks = certificateTasks(deps.tasks);
  const directory = settings.certDir;
  const store = new CertificateStore({ directory, prefix: CLIENT_PREFIX, tasks, clock });
  const { kubeconfig, bootstrapKubeconfig, certDir } = settings;
  const found = await bootstrap({
    kubeconfig,
    bootstrapKubeconfig,
    certDir,
    nodeName,
    store,
    tasks,
    load: loadClientConfig,
    connect: (config) => createApiClient({ config, clock, log }),
    clock,
    log,
    signal,
  });
  const rotates = settings.node.rotateCertificates && found.clientCertificate !== undefined;
  const { contentType } = settings.node;
  const config = {
    ...found,
    contentType,
    renewedCertificate: rotates ? store.current : found.renewedCertificate,
  };
  const client = connect(config);
  const managers: CertificateManager[] = [];
  const links: NodeStatusLink[] = [];
  const common: Omit<RotationDeps, "store"> = {
    nodeName,
    client,
    tasks,
    metrics: certificateMetrics(deps.registry, clock),
    clock,
    log,
  };
  const onRotated = (): void => {
    for (const reload of [client.reload(), ...links.map((link) => link.reloadCredentials())]) {
      reload.catch((error: unknown) => log.warn({ err: error }, "the renewed client certificate is not in use yet"));
    }
  };
  // The kubeconfig's own certificate counts until the kubelet has a rotated one.
  const first = rotates && (await store.read()) === undefined ? await firstOf(found, tasks, log) : undefined;
  const endExpiry = rotates
    ? rotateClient({ ...common, store }, managers, onRotated, deps, first?.notAfter)
    : undefined;
  return {
    client,
    config,
    useNode(link) {
      links.push(link);
      if (!settings.server.enableServer || servingFiles(settings).from !== "cluster") return;
      const store = new CertificateStore({ directory, prefix: SERVING_PREFIX, tasks, clock });
      managers.push(startServing({ ...common, store }, settings.node, link));
    },
    async stop() {
      endExpiry?.();
      await Promise.all(managers.map((manager) => manager.stop()));
    },
  };
}

/** Requests a serving certificate for the addresses of the node, and another one when they change. */
function startServing(
  deps: RotationDeps,
  { allowDNSOnlyNodeCSR }: Settings["node"],
  link: NodeStatusLink,
): CertificateManager {
  const serving = servingCertificate(deps, {
    addresses: () => link.node()?.status?.addresses ?? [],
    allowDNSOnly: allowDNSOnlyNodeCSR,
  });
  link.onNode(() => serving.checkNow());
  serving.start();
  return serving;
}

/** Not worth a join that fails. */
async function firstOf(
  config: ClientConfig,
  tasks: CertificateTasks,
  log: Logger,
): Promise<DescribedCertificate | undefined> {
  return await describeOf(config, tasks).catch((error: unknown) => {
    log.warn(
      { err: error },
      `cannot read the expiration time of the kubeconfig's client certificate: ${errorText(error)}`,
    );
    return undefined;
  });
}

function rotateClient(
  deps: RotationDeps,
  managers: CertificateManager[],
  onRotated: () => void,
  { clock, giveUp }: CredentialsDeps,
  firstNotAfter: number | undefined,
): () => void {
  const manager = clientCertificate(deps, onRotated);
  manager.start();
  managers.push(manager);
  return watchExpiry({
    notAfter: () => manager.certificate?.notAfter ?? firstNotAfter,
    serverAnswers: () => manager.serverAnswers,
    giveUp,
    clock,
    log: deps.log,
  });
}
