// The connection to the runtime, for its figures of writable layers. Loading this file loads gRPC: it is imported when
// first needed.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { CriChannelKind } from "../../shared/kubernetes/cri/channel-kind.js";
import type { ClientReports } from "../../shared/kubernetes/cri/client-reports.js";
import { createCriClient } from "../../shared/kubernetes/cri/client.js";
import type { LayersRuntime } from "./writable-layers.js";

export function connectRuntime(options: {
  endpoint: string;
  runtimeRequestTimeoutMs: number;
  listStreaming: boolean;
  channel: CriChannelKind;
  reports: ClientReports;
  clock: Clock;
}): LayersRuntime {
  const { reports, ...rest } = options;
  const client = createCriClient({ ...rest, ...reports });
  return {
    listContainerStats: (_request, callOptions) => client.listContainerStats({}, callOptions),
    close: () => client.close(),
  };
}
