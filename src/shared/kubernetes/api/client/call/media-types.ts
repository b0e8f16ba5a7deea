// The encoding of objects for one client: protobuf if `contentType` requests it and the server supports it, else JSON.

import type { WireResponse } from "../connection/wire.js";
import type { ClientLog } from "../credentials/identity.js";
import { ApiError } from "../errors.js";
import { isProtobufType, PROTOBUF_TYPE } from "./body.js";
import type * as protobuf from "./protobuf.js";

export const ACCEPT_BOTH = `${PROTOBUF_TYPE},application/json`;

export type Codec = typeof protobuf;

const NOT_ACCEPTABLE = 406;
const UNSUPPORTED = 415;

export class MediaTypes {
  private loading: Promise<Codec> | undefined;
  /** The server has shown that it takes no protobuf. */
  private isRefused = false;
  private bodiesAreJson = false;

  constructor(
    private readonly contentType: string | undefined,
    private readonly log: ClientLog,
  ) {}

  /** undefined: JSON. */
  codec(): Promise<Codec> | undefined {
    if (this.isRefused || this.contentType !== PROTOBUF_TYPE) return undefined;
    return (this.loading ??= import("./protobuf.js"));
  }

  get encodesBodies(): boolean {
    return !this.bodiesAreJson;
  }

  /** Whether a 2xx response is in protobuf. A server that answers in JSON gets its next bodies in JSON. */
  isProtobuf({ headers }: WireResponse): boolean {
    const isProtobuf = isProtobufType(headers);
    if (!isProtobuf && !this.bodiesAreJson) {
      this.bodiesAreJson = true;
      this.log.info(
        { contentType: this.contentType },
        "The API server responds in JSON; sending requests in JSON, too",
      );
    }
    return isProtobuf;
  }

  /** Whether to send the call again in JSON. From then on all calls are JSON. */
  refuses(error: unknown, sentProtobuf: boolean): boolean {
    if (!(error instanceof ApiError)) return false;
    if (error.status !== NOT_ACCEPTABLE && !(error.status === UNSUPPORTED && sentProtobuf)) return false;
    if (!this.isRefused) this.log.info({ err: error }, "The API server does not accept protobuf; using JSON");
    this.isRefused = true;
    return true;
  }
}
