// The dockershim thread as main runs it: with --container-runtime=docker beside the node's other threads, with
// --experimental-dockershim alone.

import { join } from "node:path";
import type { DockershimInit } from "../../shared/contracts/dockershim.js";
import type { Settings } from "../command/settings.js";
import { PlainThread } from "./plain-thread.js";
import type { ThreadHost } from "./thread-host.js";

/** Streams and stops of the Engine have this time to end. */
const DRAIN_MS = 5000;

export function dockershimThread(
  context: ThreadHost<"dockershim">,
  settings: Settings,
): PlainThread<"dockershim", DockershimInit> {
  return new PlainThread({ name: "dockershim", context, init: dockershimInit(settings), drainDeadlineMs: DRAIN_MS });
}

function dockershimInit({
  docker,
  rootDir,
  runtime,
}: Pick<Settings, "docker" | "rootDir" | "runtime">): DockershimInit {
  const { containerRuntimeEndpoint, runtimeRequestTimeoutMs } = runtime;
  return {
    socketPath: containerRuntimeEndpoint.slice("unix://".length),
    dockerEndpoint: docker.endpoint,
    rootDir: join(rootDir, "dockershim"),
    podInfraContainerImage: docker.podInfraContainerImage,
    imagePullProgressDeadlineMs: docker.imagePullProgressDeadlineMs,
    requestTimeoutMs: runtimeRequestTimeoutMs,
    network: docker.network,
  };
}
