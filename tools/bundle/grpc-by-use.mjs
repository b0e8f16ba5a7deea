// grpc-js by use. A thread that calls the runtime over our own channel (src/shared/kubernetes/cri/channel) needs its
// Client, Metadata and statuses. Channel, resolvers, balancers and servers of grpc-js, and node:http2 below them, are
// loaded when something reads their names: 2.4 MiB of heap for each such thread (docs/adr/0117).
// Two modules are replaced in the bundle: grpc-js' index, by one whose names load their modules when they are read; and
// the channel that its Client requires, by one that loads all of grpc-js for a Client without channelOverride.
// Invariant: nothing but the time of loading differs. A name without a module of its own comes from the real index,
// which also registers resolvers and balancers.

import { createRequire } from "node:module";
import { dirname } from "node:path";

/** Names that need few modules, by their file: what a caller over a channel of its own uses. */
const LIGHT = {
  Client: ["client", "Client"],
  ChannelCredentials: ["channel-credentials", "ChannelCredentials"],
  Metadata: ["metadata", "Metadata"],
  connectivityState: ["connectivity-state", "ConnectivityState"],
  makeClientConstructor: ["make-client", "makeClientConstructor"],
  makeGenericClientConstructor: ["make-client", "makeClientConstructor"],
  status: ["constants", "Status"],
};

const property = (name, value) =>
  `Object.defineProperty(exports, ${JSON.stringify(name)}, { enumerable: true, get: () => ${value} });`;

/** @param root the folder whose node_modules has grpc-js */
export function grpcByUse(root) {
  const require = createRequire(`${root}/package.json`);
  const index = require.resolve("@grpc/grpc-js");
  const resolveDir = dirname(index);
  const names = Object.keys(require(index)).map((name) => {
    const [file, own] = LIGHT[name] ?? ["index", name];
    return property(name, `require("./${file}.js").${own}`);
  });
  const channel = property(
    "ChannelImplementation",
    '(require("./index.js"), require("./channel.js").ChannelImplementation)',
  );
  const texts = {
    index: ['Object.defineProperty(exports, "__esModule", { value: true });', ...names].join("\n"),
    channel,
  };
  const namespace = "grpc-by-use";
  return {
    name: "grpc-js by use",
    setup(build) {
      build.onResolve({ filter: /^@grpc\/grpc-js$/ }, () => ({ path: "index", namespace }));
      build.onResolve({ filter: /^\.\/channel$/ }, ({ importer }) =>
        importer === `${resolveDir}/client.js` ? { path: "channel", namespace } : undefined,
      );
      build.onLoad({ filter: /^(index|channel)$/, namespace }, ({ path }) => ({
        contents: texts[path],
        resolveDir,
        loader: "js",
      }));
    },
  };
}
