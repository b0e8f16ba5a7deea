// Stand-alone or in a cluster: without --kubeconfig the kubelet creates no API clients and logs that once. With it, the
// files of the connection must exist and be valid. The kubelet reports their problems before it starts any thread.
// Authentication and authorization by webhook are possible only in a cluster.

import { stat } from "node:fs/promises";
import { OperatorError } from "../../shared/base/errors/operator-error.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { ClusterFiles } from "./check-kubeconfigs.js";

const STAND_ALONE = "leave out --kubeconfig and --bootstrap-kubeconfig to run stand-alone on static pods";

/** Whether the node joins a cluster or runs stand-alone. @throws OperatorError, KubeconfigError */
export async function checkCluster(files: ClusterFiles, log: Pick<Logger, "info" | "warn">): Promise<boolean> {
  const { kubeconfig, bootstrapKubeconfig } = files;
  if (kubeconfig === "") {
    if (bootstrapKubeconfig !== "") {
      throw new OperatorError(
        `--bootstrap-kubeconfig is given without --kubeconfig, the file that the credentials go to: give both, or ${STAND_ALONE}`,
      );
    }
    log.info("Standalone mode, no API client: without --kubeconfig pods come from files and URLs only");
    return false;
  }
  const joined = await isFile(kubeconfig);
  if (!joined) {
    if (bootstrapKubeconfig === "") {
      throw new OperatorError(
        `--kubeconfig ${kubeconfig} does not exist, and there is no --bootstrap-kubeconfig to request a client certificate with: ` +
          `join the node to its cluster (kubeadm join), or ${STAND_ALONE}`,
      );
    }
    if (!(await isFile(bootstrapKubeconfig))) {
      throw new OperatorError(
        `neither --kubeconfig ${kubeconfig} nor --bootstrap-kubeconfig ${bootstrapKubeconfig} exists: ` +
          `initialise or join the cluster first (kubeadm init, kubeadm join), or ${STAND_ALONE}`,
      );
    }
  }
  const { checkKubeconfigs } = await import("./check-kubeconfigs.js");
  await checkKubeconfigs({ ...files, joined }, ({ message }) =>
    log.warn(`${message}; starting all the same, as upstream does`),
  );
  return true;
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
