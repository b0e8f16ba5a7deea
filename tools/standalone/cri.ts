// The set-up and the tests ask a runtime a few simple things (is it ready, has it this image,
// which sandboxes are left). They use the generated client bare: the agent's own client is under test, not in use.

import { credentials, type ServiceError } from "@grpc/grpc-js";
import { ImageServiceClient, RuntimeServiceClient } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { waitFor } from "./wait.js";

const DEFAULT_DEADLINE_MS = 60_000;
const REMOVAL_MS = 60_000;

export interface CriConnection {
  readonly runtime: RuntimeServiceClient;
  readonly image: ImageServiceClient;
  close(): void;
}

/** Both services of a `unix://` endpoint. Nothing is sent before the first call. */
export function connectCri(endpoint: string): CriConnection {
  const options = { "grpc.initial_reconnect_backoff_ms": 50, "grpc.max_reconnect_backoff_ms": 500 };
  const runtime = new RuntimeServiceClient(endpoint, credentials.createInsecure(), options);
  const image = new ImageServiceClient(endpoint, credentials.createInsecure(), options);
  return {
    runtime,
    image,
    close: () => {
      runtime.close();
      image.close();
    },
  };
}

/** One unary call as a promise: `call((done) => cri.runtime.version(request, deadline(), …, done))` made short. */
export function call<Response>(
  start: (done: (error: ServiceError | null, response: Response) => void) => unknown,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`CRI call without an answer for ${DEFAULT_DEADLINE_MS / 1000} s`)),
      DEFAULT_DEADLINE_MS,
    );
    start((error, response) => {
      clearTimeout(timer);
      if (error === null) resolve(response);
      else reject(error);
    });
  });
}

/** Undefined when the runtime is ready for pods, else what it says is missing. Throws while it doesn't answer. */
export async function runtimeProblem(cri: CriConnection): Promise<string | undefined> {
  const { status } = await call<{ status?: { conditions: readonly RuntimeCondition[] } | undefined }>((done) =>
    cri.runtime.status({ verbose: false }, done),
  );
  const failing = (status?.conditions ?? []).filter((condition) => !condition.status);
  if (failing.length === 0) return undefined;
  return failing.map(({ type, reason, message }) => `${type}: ${reason} ${message}`).join("; ");
}

interface RuntimeCondition {
  type: string;
  status: boolean;
  reason: string;
  message: string;
}

/** True when the runtime can start containers from `image` without pulling. */
export async function hasImage(cri: CriConnection, image: string): Promise<boolean> {
  const response = await call<{ image?: unknown }>((done) =>
    cri.image.imageStatus(
      { image: { image, annotations: {}, userSpecifiedImage: "", runtimeHandler: "", imageRef: "" }, verbose: false },
      done,
    ),
  );
  return response.image !== undefined;
}

/** Stops and removes every sandbox of the runtime whose labels match; returns how many there were. */
export async function removeSandboxes(cri: CriConnection, labels: Record<string, string> = {}): Promise<number> {
  const { items } = await call<{ items: readonly { id: string }[] }>((done) =>
    cri.runtime.listPodSandbox({ filter: { id: "", state: undefined, labelSelector: labels } }, done),
  );
  for (const { id } of items) {
    // A kubelet that was killed may leave a container in its start; containerd refuses its removal until the start has
    // ended.
    const remove = async (): Promise<true> => {
      await call((done) => cri.runtime.stopPodSandbox({ podSandboxId: id }, done));
      await call((done) => cri.runtime.removePodSandbox({ podSandboxId: id }, done));
      return true;
    };
    await waitFor(remove, { what: `the removal of sandbox ${id}`, timeoutMs: REMOVAL_MS, intervalMs: 200 });
  }
  return items.length;
}
