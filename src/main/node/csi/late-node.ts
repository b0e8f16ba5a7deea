// A driver's node service whose code, and gRPC, is loaded at its first call.
import type { CsiNode } from "../../volumes/csi/node-port.js";
import type { CsiNodeOptions } from "../../volumes/csi/node-client.js";

export function connectLate(options: CsiNodeOptions): CsiNode {
  let connected: Promise<CsiNode> | undefined;
  let closed = false;
  const node = (): Promise<CsiNode> => {
    connected ??= import("../../volumes/csi/node-client.js").then(({ connectCsiNode }) => {
      const made = connectCsiNode(options);
      if (closed) made.close();
      return made;
    });
    return connected;
  };
  return {
    info: async (signal) => (await node()).info(signal),
    capabilities: async (signal) => (await node()).capabilities(signal),
    stage: async (request, signal) => (await node()).stage(request, signal),
    unstage: async (request, signal) => (await node()).unstage(request, signal),
    publish: async (request, signal) => (await node()).publish(request, signal),
    unpublish: async (request, signal) => (await node()).unpublish(request, signal),
    stats: async (request, signal) => (await node()).stats(request, signal),
    expand: async (request, signal) => (await node()).expand(request, signal),
    close() {
      closed = true;
      connected?.then(
        (made) => made.close(),
        () => undefined,
      );
    },
  };
}
