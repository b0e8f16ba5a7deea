// The types of the verb tables: one function per CRI method, request in, response out.
import type { ImageServiceService, RuntimeServiceService } from "../../shared/cri/gen/runtime.v1.js";

type Definitions = typeof RuntimeServiceService & typeof ImageServiceService;
export type UnaryMethod = {
  [Method in keyof Definitions]: Definitions[Method] extends { responseStream: false } ? Method : never;
}[keyof Definitions];

type RequestOf<Method extends UnaryMethod> = Parameters<Definitions[Method]["requestSerialize"]>[0];
type ResponseOf<Method extends UnaryMethod> = Parameters<Definitions[Method]["responseSerialize"]>[0];

/** A table of verbs. The signal aborts when the caller gave up or its deadline passed. */
export type Verbs<Method extends UnaryMethod> = {
  [M in Method]: (request: RequestOf<M>, signal: AbortSignal) => Promise<ResponseOf<M>>;
};
