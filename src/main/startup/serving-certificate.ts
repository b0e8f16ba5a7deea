// The certificate that the agent's server shows: files that were given, the one the cluster signs, or a self-signed pair that
// is made here when there is none.
// What must hold: no pod waits for it; without it only the authenticated port stays closed.
import { join } from "node:path";
import type { Clock, Timer } from "../../shared/clock/clock.js";
import type { Logger } from "../../shared/log/logger.js";
import type { TasksPool } from "../threads/tasks-pool.js";

export interface ServingSettings {
  enableServer: boolean;
  certDir: string;
  tlsCertFile: string;
  tlsPrivateKeyFile: string;
  serverTLSBootstrap: boolean;
  /** "": stand-alone, nobody signs. */
  kubeconfig: string;
}

export interface ServingFiles {
  certFile: string;
  keyFile: string;
  /** They are the agent's to make. */
  selfSigned: boolean;
}

export function servingFiles(settings: ServingSettings): ServingFiles {
  const { certDir, tlsCertFile, tlsPrivateKeyFile, serverTLSBootstrap, kubeconfig } = settings;
  if (tlsCertFile !== "" || tlsPrivateKeyFile !== "") {
    return { certFile: tlsCertFile, keyFile: tlsPrivateKeyFile, selfSigned: false };
  }
  if (serverTLSBootstrap && kubeconfig !== "") {
    const both = join(certDir, "kubelet-server-current.pem");
    return { certFile: both, keyFile: both, selfSigned: false };
  }
  return { certFile: join(certDir, "kubelet.crt"), keyFile: join(certDir, "kubelet.key"), selfSigned: true };
}

export interface ServingDeps {
  nodeName: string;
  nodeIPs: readonly string[];
  tasks: Pick<TasksPool, "run">;
  clock: Clock;
  log: Logger;
}

/** The processors are the first pods' so long. */
const DELAY_MS = 500;

/** Sees to the self-signed pair, in a while. @returns ends it */
export function makeServingCertificate(settings: ServingSettings, deps: ServingDeps): () => void {
  if (!settings.enableServer || !servingFiles(settings).selfSigned) return () => undefined;
  let ended = false;
  const timer: Timer = deps.clock.after(DELAY_MS, () => {
    make(settings.certDir, deps).catch((error: unknown) => {
      if (ended) return;
      deps.log.error(
        { err: error },
        `no serving certificate could be made in --cert-dir ${settings.certDir}: the authenticated port stays closed; give one with tlsCertFile and tlsPrivateKeyFile`,
      );
    });
  });
  return () => {
    ended = true;
    timer.cancel();
  };
}

async function make(directory: string, { nodeName, nodeIPs, tasks, clock, log }: ServingDeps): Promise<void> {
  const [{ selfSignedCertificate }, { certificateTasks }, { mkdir }] = await Promise.all([
    import("../node/certificates/self-signed.js"),
    import("../node/certificates/certificate-tasks.js"),
    import("node:fs/promises"),
  ]);
  await mkdir(directory, { recursive: true, mode: 0o755 });
  await selfSignedCertificate({ directory, nodeName, nodeIPs, tasks: certificateTasks(tasks), clock, log });
}
