// Stand-alone or in a cluster: without --kubeconfig the kubelet creates no API clients and logs that once. With it, the
// files of the connection must exist and be valid. The kubelet reports their problems before it starts any thread.
// Authentication and authorization by webhook are possible only in a cluster.

import { OperatorError } from "../../shared/base/errors/operator-error.js";
import { FileGoneError, NotRegularFileError, openUntrusted } from "../../shared/io/fs/untrusted-file.js";
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

/** @throws OperatorError if the path leads to a folder, FIFO, socket or device */
async function isFile(path: string): Promise<boolean> {
  try {
    const { handle } = await openUntrusted(path, { followLink: true });
    await handle.close();
  } catch (error) {
    if (error instanceof FileGoneError) return false;
    if (error instanceof NotRegularFileError) throw new OperatorError(error.message);
    // The reader of the file names its cause.
  }
  return true;
}
