// A node with an API server of its own (--api-server-port): it is a node of a cluster of one. The kubelet's client
// talks to the server as to any other. Loaded only with that flag (docs/without-a-cluster.md).

import { hostname } from "node:os";
import type { Clock } from "../../shared/base/clock/clock.js";
import { OperatorError } from "../../shared/base/errors/operator-error.js";
import type { ApiServerInit } from "../../shared/contracts/apiserver.js";
import { adminSocketOf } from "../../shared/contracts/nodelet.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { Settings } from "../command/settings.js";
import { makeCredentials } from "../node/api-server/credentials.js";
import { apiServerFiles } from "../node/api-server/paths.js";
import { ApiServerThread } from "../threads/apiserver-thread.js";
import type { NodeThreads } from "../threads/node-threads.js";
import { nodeName } from "./node-identity.js";

/**
 * The settings of the node as a client of its own API server, whose credentials are made.
 * @throws OperatorError for flags that contradict
 */
export async function withOwnApi(settings: Settings, clock: Clock, log: Logger): Promise<Settings> {
  const { kubeconfig, bootstrapKubeconfig, adminSocket, rootDir, apiServerPort, apiServerAddress } = settings;
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
  const files = apiServerFiles(rootDir);
  const name = nodeName(settings.hostnameOverride, hostname());
  await makeCredentials({ files, nodeName: name, address: apiServerAddress, port: apiServerPort, clock, log });
  return {
    ...settings,
    kubeconfig: files.kubelet,
    // The server has JSON only, and signs no requests for certificates: the kubelet's is new at each start.
    node: { ...settings.node, contentType: "application/json", rotateCertificates: false },
    server: { ...settings.server, serverTLSBootstrap: false },
  };
}

export function startOwnApi(settings: Settings, threads: NodeThreads): void {
  const thread = new ApiServerThread({ context: threads.context, init: initOf(settings) });
  threads.add("apiserver", thread);
  thread.thread.startInBackground();
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
