// The rules of probes, and of the actions that probes and lifecycle hooks share.

import { headerName } from "../../../shared/kubernetes/api/manifest/formats.js";
import { int, int64, oneOf, text } from "./field-types.js";
import type { Rules } from "./struct.js";

export const probeRules = (): Rules => ({
  ExecAction: { required: ["command"] },
  GRPCAction: { fields: { port: int(1, 65535), mode: oneOf("Plaintext", "TLS") }, required: ["port"] },
  HTTPGetAction: {
    fields: { scheme: oneOf("HTTP", "HTTPS"), protocol: oneOf("HTTP1", "HTTP2") },
    required: ["port"],
  },
  HTTPHeader: { fields: { name: text(headerName) }, required: ["name"] },
  Probe: {
    fields: {
      initialDelaySeconds: int(0),
      timeoutSeconds: int(0),
      periodSeconds: int(0),
      successThreshold: int(0),
      failureThreshold: int(0),
      terminationGracePeriodSeconds: int64(1),
    },
    zeroKept: ["timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"],
  },
  SleepAction: { fields: { seconds: int(0) } },
  TCPSocketAction: { required: ["port"] },
});
