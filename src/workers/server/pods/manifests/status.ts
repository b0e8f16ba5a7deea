// Failures of the manifest API: metav1.Status.

import type { ServerResponse } from "node:http";
import type { ManifestRefusal } from "../../../../shared/contracts/manifests.js";

export function replyStatus(
  response: ServerResponse,
  { code, reason, message, causes }: ManifestRefusal,
  headers: Record<string, string> = {},
): void {
  const details = causes === undefined ? {} : { details: { kind: "manifests", causes } };
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason,
    ...details,
    code,
  };
  replyJson(response, code, `${JSON.stringify(status)}\n`, headers);
}

export function replySuccess(response: ServerResponse, { namespace, name }: { namespace: string; name: string }): void {
  const details = { kind: "manifests", name, namespace };
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
  replyJson(response, 200, `${JSON.stringify(status)}\n`);
}

export function replyJson(
  response: ServerResponse,
  code: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  const length = String(Buffer.byteLength(body));
  response.writeHead(code, { ...headers, "Content-Type": "application/json", "Content-Length": length });
  response.end(body);
}
