// The registration service of a plugin's socket, over gRPC. Loaded with the first socket that shows up.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { PluginConnection, SMALL_RESPONSE_BYTES } from "../../../shared/kubernetes/plugins/connection.js";
import { RegistrationService } from "../../../shared/kubernetes/plugins/gen/pluginregistration.v1.js";
import type { RegistrationClient } from "../../model/plugin-handler.js";

/** Ten seconds to connect and one more for the response, as upstream; a client can't distinguish the two. */
const GET_INFO_MS = 11_000;
const NOTIFY_MS = 5_000;

export function dialRegistration(path: string, clock: Clock): RegistrationClient {
  const connection = new PluginConnection(path, clock);
  return {
    async getInfo(signal) {
      const options = { timeoutMs: GET_INFO_MS, maxBytes: SMALL_RESPONSE_BYTES, signal };
      const info = await connection.call(RegistrationService.getInfo, {}, options);
      const endpoint = info.endpoint === "" ? path : info.endpoint;
      return { type: info.type, name: info.name, endpoint, versions: info.supportedVersions };
    },
    async notify(error, signal) {
      const status = { pluginRegistered: error === undefined, error: error ?? "" };
      await connection.call(RegistrationService.notifyRegistrationStatus, status, { timeoutMs: NOTIFY_MS, signal });
    },
    close: () => connection[Symbol.dispose](),
  };
}
