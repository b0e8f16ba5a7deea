// The Status that says that something was done.

import type { Fields } from "../../../src/workers/apiserver/objects/object.js";

export function canonicalStatus(code?: number, details?: Fields): Fields {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    ...(details === undefined ? {} : { details }),
    ...(code === undefined ? {} : { code }),
  };
}
