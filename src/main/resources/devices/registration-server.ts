// kubelet.sock, at which device plugins register. Loaded when the agent has started.
// What must hold: sockets of earlier plugins are gone before ours is there: a plugin that sees ours registers anew, with a
// socket made anew.
import { Server, ServerCredentials, status } from "@grpc/grpc-js";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorText } from "../../../shared/log/error-text.js";
import type { Logger } from "../../../shared/log/logger.js";
import { RegistrationService, type RegisterRequest } from "../../../shared/plugins/gen/deviceplugin.v1beta1.js";

const SOCKET = "kubelet.sock";
const DIRECTORY_MODE = 0o750;
/** Tells plugins' authors that plugins_registry is the newer way; upstream makes it too. */
const DEPRECATION = "DEPRECATION";

export interface RegistrationServer {
  stop(): void;
}

/** `register` rejects with what the plugin is to be told. Rejects when the socket can't be made. */
export async function serveRegistration(
  directory: string,
  register: (request: RegisterRequest, signal: AbortSignal) => Promise<void>,
  log: Logger,
): Promise<RegistrationServer> {
  await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
  await removeSockets(directory);
  await writeFile(join(directory, DEPRECATION), "").catch((error: unknown) => {
    log.warn({ err: error }, `${DEPRECATION} could not be made in ${directory}`);
  });
  const ending = new AbortController();
  const server = new Server();
  server.addService(RegistrationService, {
    register(call: { request: RegisterRequest }, answer: (error: object | null, reply?: object) => void) {
      const { resourceName, endpoint } = call.request;
      register(call.request, ending.signal).then(
        () => {
          log.info({ resource: resourceName, endpoint }, `device plugin ${resourceName} is registered`);
          answer(null, {});
        },
        (error: unknown) => {
          const details = errorText(error);
          log.error({ err: error, resource: resourceName }, `device plugin ${resourceName} is refused: ${details}`);
          answer({ code: status.UNKNOWN, details });
        },
      );
    },
  });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${join(directory, SOCKET)}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  return {
    stop() {
      ending.abort(new Error("the agent stops"));
      server.forceShutdown();
    },
  };
}

async function removeSockets(directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true });
  const sockets = entries.filter((entry) => entry.isSocket());
  await Promise.all(sockets.map(({ name }) => rm(join(directory, name), { force: true })));
}
