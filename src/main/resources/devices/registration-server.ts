// kubelet.sock, at which device plugins register. Loaded when the kubelet has started.

import { join } from "node:path";
import { Server, status } from "@grpc/grpc-js";
import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import { bindGrpc } from "../../../shared/kubernetes/plugins/bind-grpc.js";
import {
  RegistrationService,
  type RegisterRequest,
} from "../../../shared/kubernetes/plugins/gen/deviceplugin.v1beta1.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { callText } from "./plugin-port.js";
import { LONGEST_QUOTE, OWN_SOCKET } from "./register-plugin.js";

/** A request has a name, a version and the name of a socket. */
const SERVER_OPTIONS = { "grpc.max_receive_message_length": 16 * 1024, "grpc.max_concurrent_streams": 64 };

export interface RegistrationServer {
  stop(): Promise<void>;
}

/** `register` rejects with the error for the plugin. Rejects when the socket can't be made. */
export async function serveRegistration(
  directory: string,
  register: (request: RegisterRequest, signal: AbortSignal) => Promise<void>,
  log: Logger,
): Promise<RegistrationServer> {
  const lifetime = new Lifetime();
  const server = new Server(SERVER_OPTIONS);
  server.addService(RegistrationService, {
    register(call: { request: RegisterRequest }, answer: (error: object | null, reply?: object) => void) {
      const resourceName = call.request.resourceName.slice(0, LONGEST_QUOTE);
      const endpoint = call.request.endpoint.slice(0, LONGEST_QUOTE);
      register(call.request, lifetime.signal).then(
        () => {
          log.info({ resource: resourceName, endpoint }, `device plugin ${resourceName} is registered`);
          answer(null, {});
        },
        (error: unknown) => {
          const details = callText(error);
          log.error({ err: error, resource: resourceName }, `device plugin ${resourceName} is refused: ${details}`);
          answer({ code: status.UNKNOWN, details });
        },
      );
    },
  });
  const socket = join(directory, OWN_SOCKET);
  const bound = await bindGrpc(server, socket);
  return {
    stop() {
      lifetime.end();
      server.forceShutdown();
      return bound.remove();
    },
  };
}
