// Checks that the configured authentication and authorization are possible: webhook reviews need an API server.

import { OperatorError } from "../../shared/base/errors/operator-error.js";
import type { AuthenticationInit, AuthorizationInit } from "../../shared/contracts/server.js";

export interface ServerAuthSettings {
  enableServer: boolean;
  kubeconfig: string;
  authentication: Pick<AuthenticationInit, "webhook">;
  authorization: Pick<AuthorizationInit, "mode">;
}

/** @throws OperatorError */
export function checkServerAuth(settings: ServerAuthSettings): void {
  const { enableServer, kubeconfig, authentication, authorization } = settings;
  if (!enableServer || kubeconfig !== "") return;
  if (authentication.webhook) {
    throw new OperatorError(
      "no client provided, cannot use webhook authentication: a stand-alone node has no API server to review tokens; " +
        "set authentication.webhook.enabled: false, or enableServer: false",
    );
  }
  if (authorization.mode === "Webhook") {
    throw new OperatorError(
      "no client provided, cannot use webhook authorization: a stand-alone node has no API server to review access; " +
        "set authorization.mode: AlwaysAllow, or enableServer: false",
    );
  }
}
