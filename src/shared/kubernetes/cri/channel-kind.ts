// Which code speaks HTTP/2 with the runtime. Free of gRPC, for the init data of threads.

/** Flag --cri-channel: our channel (channel/), or the one that grpc-js brings. */
export type CriChannelKind = "own" | "grpc-js";
