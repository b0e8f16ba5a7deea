// Serves one call: log, latency, failpoints, then the verb; the same for every rpc of both services.

import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from "@grpc/grpc-js";
import { codeName } from "../../src/shared/kubernetes/cri/errors.js";
import { verbOfPath, type CriMethod, type CriVerb } from "../../src/shared/kubernetes/cri/verbs.js";
import type { FakeCall } from "./call-log.js";
import type { FakeWorld, ServedCall, UnaryVerbs } from "./context.js";
import { Failpoints, type CallTarget } from "./failpoints.js";
import { Fault, toStatus } from "./fault.js";
import { followEvents, pagesOf } from "./streams.js";
import { containerVerbs } from "./verbs/containers.js";
import { execVerbs } from "./verbs/exec.js";
import { imageVerbs } from "./verbs/images.js";
import { runtimeVerbs } from "./verbs/runtime.js";
import { sandboxVerbs } from "./verbs/sandboxes.js";
import { statsVerbs } from "./verbs/stats.js";
import { stopContainerVerb } from "./verbs/stop-container.js";

export interface DispatcherOptions {
  latency: Partial<Record<CriVerb, number>>;
  /** GetContainerEvents works; Unimplemented otherwise. */
  events: boolean;
  /** The Stream* lists work; Unimplemented otherwise. */
  listStreams: boolean;
  recordCalls: boolean;
  /** Crashes the runtime and brings it back. */
  panic: () => void;
}

export class Dispatcher {
  readonly calls: FakeCall[] = [];
  readonly failpoints = new Failpoints();
  readonly #verbs: UnaryVerbs;

  constructor(
    private readonly world: FakeWorld,
    private readonly options: DispatcherOptions,
  ) {
    this.#verbs = {
      ...runtimeVerbs(world),
      ...sandboxVerbs(world),
      ...containerVerbs(world),
      ...stopContainerVerb(world),
      ...execVerbs(world),
      ...imageVerbs(world),
      ...statsVerbs(world),
    };
  }

  /** The grpc-js handler of a unary method. */
  unary(
    method: CriMethod,
    path: string,
  ): (call: ServerUnaryCall<unknown, unknown>, reply: sendUnaryData<unknown>) => void {
    const run = Reflect.get(this.#verbs, method) as (request: unknown, call: ServedCall) => unknown;
    return (call, reply) => {
      const served = servedCall(call);
      this.#serve(verbOfPath(path), call, served, () => run(call.request, served)).then(
        (response) => reply(null, response),
        (error: unknown) => reply(toStatus(error)),
      );
    };
  }

  /** The grpc-js handler of a server stream. */
  stream(method: CriMethod, path: string): (call: ServerWritableStream<unknown, unknown>) => void {
    return (call) => {
      const served = servedCall(call);
      const run = (): Promise<void> | void => {
        if (method === "getContainerEvents" && this.options.events) {
          return followEvents(this.world.state, (event) => call.write(event), served.signal);
        }
        const pages = this.options.listStreams ? pagesOf(this.world.state, method, call.request) : undefined;
        if (pages === undefined) throw new Fault("UNIMPLEMENTED", `unknown method ${method} for service runtime.v1`);
        for (const page of pages) call.write(page);
      };
      this.#serve(verbOfPath(path), call, served, run).then(
        () => call.end(),
        (error: unknown) => call.emit("error", toStatus(error)),
      );
    };
  }

  async #serve(
    verb: CriVerb,
    rpc: Pick<ServerUnaryCall<unknown, unknown>, "request" | "metadata" | "getDeadline">,
    call: ServedCall,
    run: () => unknown,
  ): Promise<unknown> {
    const { request, metadata } = rpc;
    const [traceparent] = metadata.get("traceparent");
    const trace = traceparent === undefined ? {} : { traceparent: String(traceparent) };
    const remainingMs = Number(rpc.getDeadline()) - Date.now();
    const entry: FakeCall = { verb, request, startedAt: performance.now(), remainingMs, ...trace };
    if (this.options.recordCalls) this.calls.push(entry);
    try {
      const latency = this.options.latency[verb];
      if (latency !== undefined) await call.sleep(latency);
      const target = this.#targetOf(request);
      await this.#failpoint(verb, target, "before", call);
      const response = await run();
      await this.#failpoint(verb, target, "after", call);
      entry.code = "OK";
      return response;
    } catch (error) {
      entry.code = codeName(toStatus(error).code);
      throw error;
    } finally {
      entry.endedAt = performance.now();
    }
  }

  async #failpoint(verb: CriVerb, target: CallTarget, when: "before" | "after", call: ServedCall): Promise<void> {
    const point = this.failpoints.take(verb, target, when);
    switch (point?.action.kind) {
      case undefined:
      case "off":
        return;
      case "error":
        throw new Fault(point.action.code, point.action.text);
      case "delay":
        return call.sleep(point.action.ms);
      case "hang":
        return call.sleep(2 ** 31 - 1, point.replaced);
      case "panic":
        this.options.panic();
        throw new Fault("UNAVAILABLE", "the runtime crashed");
    }
  }

  /** Everything a failpoint may be matched by. */
  #targetOf(request: unknown): CallTarget {
    const { containerId, podSandboxId, config, sandboxConfig } = request as {
      containerId?: string;
      podSandboxId?: string;
      config?: { metadata?: { name: string; uid?: string } };
      sandboxConfig?: { metadata?: { name: string; uid: string } };
    };
    const { state } = this.world;
    const container = containerId === undefined ? undefined : state.containers.get(containerId);
    const sandboxId = podSandboxId ?? container?.sandboxId;
    const sandbox = sandboxId === undefined ? undefined : state.sandboxes.get(sandboxId);
    const own = config?.metadata;
    const isPod = own?.uid !== undefined;
    const podMetadata = isPod ? own : (sandboxConfig?.metadata ?? sandbox?.config.metadata);
    return {
      pod: defined([podMetadata?.name, podMetadata?.uid, sandboxId]),
      container: defined([containerId, container?.config.metadata?.name, isPod ? undefined : own?.name]),
    };
  }
}

function defined(values: (string | undefined)[]): string[] {
  return values.filter((value) => value !== undefined && value !== "") as string[];
}

/** Turns grpc-js's cancellation into an AbortSignal, and gives sleeps that end with it. */
function servedCall(call: ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>): ServedCall {
  let isGone = false;
  // Few calls need it.
  let gone: AbortController | undefined;
  const signal = (): AbortSignal => {
    gone ??= new AbortController();
    if (isGone) gone.abort();
    return gone.signal;
  };
  call.on("cancelled", () => {
    isGone = true;
    gone?.abort();
  });
  return {
    get signal() {
      return signal();
    },
    sleep: (ms, until) => (ms <= 0 ? Promise.resolve() : sleepUntil(ms, signal(), until)),
  };
}

function sleepUntil(ms: number, gone: AbortSignal, until: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => (): void => {
      clearTimeout(timer);
      gone.removeEventListener("abort", onGone);
      until?.removeEventListener("abort", onUntil);
      settle();
    };
    const onUntil = finish(resolve);
    const onGone = finish(() => reject(new Fault("CANCELLED", "the caller gave up")));
    const timer = setTimeout(onUntil, ms);
    if (gone.aborted) onGone();
    else if (until?.aborted === true) onUntil();
    gone.addEventListener("abort", onGone, { once: true });
    until?.addEventListener("abort", onUntil, { once: true });
  });
}
