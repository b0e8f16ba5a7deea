// A node with an API server of its own (--api-server-port): it is a node of a cluster of one. The kubelet's client
// talks to the server as to any other. Loaded only with that flag (docs/without-a-cluster.md).

import { hostname } from "node:os";
import type { Clock } from "../../shared/base/clock/clock.js";
import { OperatorError } from "../../shared/base/errors/operator-error.js";
import type { ApiServerInit, ApiServerUpcalls } from "../../shared/contracts/apiserver.js";
import { adminSocketOf } from "../../shared/contracts/nodelet.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { Settings } from "../command/settings.js";
import { makeCredentials, updateReaders, type CredentialsDeps } from "../node/api-server/credentials.js";
import { apiServerFiles } from "../node/api-server/paths.js";
import { certificateTasks } from "../node/certificates/certificate-tasks.js";
import { ApiServerThread } from "../threads/api-server-thread.js";
import type { NodeThreads } from "../threads/node-threads.js";
import { createTasksPool } from "../threads/tasks-pool.js";
import { nodeName } from "./node-identity.js";

const POOL_HEAP_MIB = 64;

/**
 * The settings of the node as a client of its own API server, whose credentials are made.
 * @throws OperatorError for flags that contradict
 */
export async function withOwnApi(settings: Settings, clock: Clock, log: Logger): Promise<Settings> {
  const { kubeconfig, bootstrapKubeconfig, adminSocket, rootDir } = settings;
  if (kubeconfig !== "" || bootstrapKubeconfig !== "") {
    throw new OperatorError(
      "--api-server-port is for a node without a cluster: leave out --kubeconfig and --bootstrap-kubeconfig",
    );
  }
  if (adminSocket === "none") {
    throw new OperatorError(
      "--api-server-port needs the admin socket for logs and streams: leave out --admin-socket=none",
    );
  }
  await makeCredentials(credentialsDeps(settings, clock, log));
  return {
    ...settings,
    kubeconfig: apiServerFiles(rootDir).kubelet,
    // The server has JSON only, and signs no requests for certificates: the kubelet's is new at each start.
    node: { ...settings.node, contentType: "application/json", rotateCertificates: false },
    server: { ...settings.server, serverTLSBootstrap: false },
  };
}

export function startOwnApi(settings: Settings, threads: NodeThreads, clock: Clock, log: Logger): void {
  const deps = credentialsDeps(settings, clock, log);
  const upcalls: ApiServerUpcalls = { readersChanged: (names) => updateReaders(deps, names) };
  const thread = new ApiServerThread(threads.context, initOf(settings), upcalls);
  threads.add("apiserver", thread);
  thread.thread.startInBackground();
}

function credentialsDeps(settings: Settings, clock: Clock, log: Logger): CredentialsDeps {
  const { rootDir, hostnameOverride, apiServerAddress: address, apiServerPort: port } = settings;
  return {
    files: apiServerFiles(rootDir),
    nodeName: nodeName(hostnameOverride, hostname()),
    address,
    port,
    clock,
    log,
    // A pool that ends with its work: it is needed at the start and when a reader comes.
    withTasks: async (work) => {
      const pool = createTasksPool({ minThreads: 0, maxThreads: 1, heapMiB: POOL_HEAP_MIB, log, clock });
      try {
        return await work(certificateTasks(pool));
      } finally {
        await pool.close();
      }
    },
  };
}

function initOf({
  rootDir,
  adminSocket,
  hostnameOverride,
  apiServerAddress,
  apiServerPort,
  server,
}: Settings): ApiServerInit {
  const files = apiServerFiles(rootDir);
  const { tlsMinVersion: minVersion, tlsCiphers: ciphers, tlsCurves: curves } = server;
  return {
    address: apiServerAddress,
    port: apiServerPort,
    tls: { certFile: files.servingCert, keyFile: files.servingKey, minVersion, ciphers, curves },
    clientCAFile: files.caCert,
    readersFile: files.readers,
    directory: files.store,
    volumesDir: files.volumes,
    nodeName: nodeName(hostnameOverride, hostname()),
    adminSocket: adminSocket === "" ? adminSocketOf(rootDir) : adminSocket,
  };
}
