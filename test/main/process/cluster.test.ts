// Authentication and authorization of the clients of the kubelet's server.

import { doesNotThrow, throws } from "node:assert/strict";
import { test } from "node:test";
import { checkServerAuth, type ServerAuthSettings } from "../../../src/main/process/server-auth.js";

test("a stand-alone node has no API server for reviews", () => {
  const settings = (
    webhook: boolean,
    mode: "Webhook" | "AlwaysAllow",
    more: Partial<ServerAuthSettings> = {},
  ): ServerAuthSettings => ({
    enableServer: true,
    kubeconfig: "",
    authentication: { webhook },
    authorization: { mode },
    ...more,
  });
  throws(
    () => checkServerAuth(settings(true, "AlwaysAllow")),
    /^OperatorError: no client provided, cannot use webhook authentication/,
  );
  throws(
    () => checkServerAuth(settings(false, "Webhook")),
    /^OperatorError: no client provided, cannot use webhook authorization/,
  );
  doesNotThrow(() => checkServerAuth(settings(false, "AlwaysAllow")));
  doesNotThrow(() => checkServerAuth(settings(true, "Webhook", { enableServer: false })));
  doesNotThrow(() => checkServerAuth(settings(true, "Webhook", { kubeconfig: "/k" })));
});
