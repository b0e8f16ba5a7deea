// ExecSync and the streaming calls that answer with a URL.

import { ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { FakeWorld, UnaryVerbs } from "../context.js";
import { Fault } from "../fault.js";

export function execVerbs({ state, settings }: FakeWorld): UnaryVerbs<"execSync" | "exec" | "attach"> {
  const requireRunning = (id: string): void => {
    const { status } = state.container(id);
    if (status.state !== ContainerState.CONTAINER_RUNNING) {
      throw new Fault("UNKNOWN", `container is in ${ContainerState[status.state]} state`);
    }
  };
  return {
    execSync: async ({ containerId, cmd, timeout }, call) => {
      requireRunning(containerId);
      const { exitCode = 0, stdout = "", stderr = "", runMs = 0 } = settings.exec(containerId, cmd);
      const limitMs = timeout === 0n ? Infinity : Number(timeout) * 1000;
      await call.sleep(Math.min(runMs, limitMs));
      if (runMs > limitMs) {
        throw new Fault("DEADLINE_EXCEEDED", `failed to exec in container: timeout ${limitMs} ms exceeded`);
      }
      return { exitCode, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) };
    },
    exec: (request) => {
      const { containerId } = request;
      requireRunning(containerId);
      return { url: settings.stream?.("exec", request) ?? `http://127.0.0.1:1/exec/${containerId.slice(0, 8)}` };
    },
    attach: (request) => {
      const { containerId } = request;
      requireRunning(containerId);
      return { url: settings.stream?.("attach", request) ?? `http://127.0.0.1:1/attach/${containerId.slice(0, 8)}` };
    },
  };
}
