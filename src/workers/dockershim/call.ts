// The types of the verb tables: one function per CRI method, request in, response out.

import type { ImageServiceService, RuntimeServiceService } from "../../shared/kubernetes/cri/gen/runtime.v1.js";

type Definitions = typeof RuntimeServiceService & typeof ImageServiceService;
export type UnaryMethod = {
  [Method in keyof Definitions]: Definitions[Method] extends { responseStream: false } ? Method : never;
}[keyof Definitions];

export type StreamMethod = Exclude<keyof Definitions, UnaryMethod>;

type RequestOf<Method extends keyof Definitions> = Parameters<Definitions[Method]["requestSerialize"]>[0];
type ResponseOf<Method extends keyof Definitions> = Parameters<Definitions[Method]["responseSerialize"]>[0];

/** A table of verbs. The signal aborts when the caller gave up or its deadline passed. */
export type Verbs<Method extends UnaryMethod> = {
  [M in Method]: (request: RequestOf<M>, signal: AbortSignal) => Promise<ResponseOf<M>>;
};

/**
 * Streams of responses. `send` throws Fault when the caller takes them too slowly. The stream ends when the promise
 * settles.
 */
export type StreamVerbs<Method extends StreamMethod> = {
  [M in Method]: (request: RequestOf<M>, send: (response: ResponseOf<M>) => void, signal: AbortSignal) => Promise<void>;
};
