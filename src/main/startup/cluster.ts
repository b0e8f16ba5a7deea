// Stand-alone or in a cluster: without --kubeconfig the kubelet creates no API clients and logs that once. With it, the files of the
// connection must exist and be valid. The kubelet reports their problems before it starts any thread. Authentication and authorization by
// webhook are possible only in a cluster.
import { stat } from "node:fs/promises";
import type { Logger } from "../../shared/log/logger.js";
import type { ClusterFiles } from "./check-kubeconfigs.js";
import type { AuthenticationInit, AuthorizationInit } from "../../shared/contracts/server.js";

/** The command line names a cluster that the kubelet cannot join. */
export class ClusterError extends Error {
  override readonly name = "ClusterError";
  readonly code = "CLUSTER";
}
export const isClusterError = (error: unknown): error is ClusterError => error instanceof ClusterError;

const STAND_ALONE = "leave out --kubeconfig and --bootstrap-kubeconfig to run stand-alone on static pods";

/** Whether the node joins a cluster or runs stand-alone. @throws ClusterError, KubeconfigError */
export async function checkCluster(files: ClusterFiles, log: Pick<Logger, "info">): Promise<boolean> {
  const { kubeconfig, bootstrapKubeconfig } = files;
  if (kubeconfig === "") {
    if (bootstrapKubeconfig !== "") {
      throw new ClusterError(
        `--bootstrap-kubeconfig is given without --kubeconfig, the file that the credentials go to: give both, or ${STAND_ALONE}`,
      );
    }
    log.info("Standalone mode, no API client: without --kubeconfig pods come from files and URLs only");
    return false;
  }
  const joined = await isFile(kubeconfig);
  if (!joined) {
    if (bootstrapKubeconfig === "") {
      throw new ClusterError(
        `--kubeconfig ${kubeconfig} does not exist, and there is no --bootstrap-kubeconfig to request a client certificate with: ` +
          `join the node to its cluster (kubeadm join), or ${STAND_ALONE}`,
      );
    }
    if (!(await isFile(bootstrapKubeconfig))) {
      throw new ClusterError(
        `neither --kubeconfig ${kubeconfig} nor --bootstrap-kubeconfig ${bootstrapKubeconfig} exists: ` +
          `initialise or join the cluster first (kubeadm init, kubeadm join), or ${STAND_ALONE}`,
      );
    }
  }
  const { checkKubeconfigs } = await import("./check-kubeconfigs.js");
  await checkKubeconfigs({ ...files, joined });
  return true;
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

// Checks that the configured authentication and authorization are possible: webhook reviews need an API server.

export interface ServerAuthSettings {
  enableServer: boolean;
  kubeconfig: string;
  authentication: Pick<AuthenticationInit, "webhook">;
  authorization: Pick<AuthorizationInit, "mode">;
}

/** The configuration needs an API server for authentication or authorization, and the kubelet has none. */
class ServerAuthError extends Error {
  override readonly name = "ServerAuthError";
  readonly code = "SERVER_AUTH";
}
export const isServerAuthError = (error: unknown): error is ServerAuthError => error instanceof ServerAuthError;

/** @throws ServerAuthError */
export function checkServerAuth(settings: ServerAuthSettings): void {
  const { enableServer, kubeconfig, authentication, authorization } = settings;
  if (!enableServer || kubeconfig !== "") return;
  if (authentication.webhook) {
    throw new ServerAuthError(
      "no client provided, cannot use webhook authentication: a stand-alone node has no API server to review tokens; " +
        "set authentication.webhook.enabled: false, or enableServer: false",
    );
  }
  if (authorization.mode === "Webhook") {
    throw new ServerAuthError(
      "no client provided, cannot use webhook authorization: a stand-alone node has no API server to review access; " +
        "set authorization.mode: AlwaysAllow, or enableServer: false",
    );
  }
}
