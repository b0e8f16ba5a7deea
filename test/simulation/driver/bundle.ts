// Makes one file of the agent and the simulated machine. Node's modules that reach the real machine are replaced; so
// are the agent's connections and C calls. A mutant is a replacement in one of the agent's sources.

import { mkdir, readFile, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import type { Mutant } from "./mutant.js";
import { compiledCodeOf } from "./run-seed.js";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const simulation = join(root, "test", "simulation");
const replacement = (name: string): string => join(simulation, "modules", `${name}.ts`);

/** Modules of Node that are replaced where files outside the simulation and outside packages import them. */
const NODE_MODULES: ReadonlyMap<string, string> = new Map([
  ["fs", "fs"],
  ["fs/promises", "fs-promises"],
  ["net", "net"],
  ["os", "os"],
  ["child_process", "child-process"],
  ["crypto", "crypto"],
  ["dns/promises", "dns-promises"],
  ["worker_threads", "worker-threads"],
  ["v8", "v8"],
  ["zlib", "zlib"],
]);

/** Files of the agent. */
const OWN_MODULES: ReadonlyMap<string, string> = new Map(
  [
    ["kubernetes/cri/channel.ts", "cri-channel"],
    ["kubernetes/api/client/connection/channel.ts", "api-channel"],
    ["kubernetes/plugins/bind-grpc.ts", "bind-grpc"],
    ["io/os/libc.ts", "libc"],
    ["io/os/inotify.ts", "inotify"],
    ["base/turns/shared-read.ts", "shared-read"],
    ["io/os/directory-stream.ts", "directory-stream"],
    ["thread/guest.ts", "guest"],
    ["../main/threads/tasks-pool.ts", "tasks-pool"],
    ["../workers/apiserver/store/store.ts", "object-store"],
    ["../workers/server/ports/secure-port.ts", "secure-port"],
  ].map(([path = "", name = ""]) => [join(root, "src", "shared", path), name]),
);

/** Its HTTP/2 is replaced: gRPC probes. */
const PROBE_CONNECTION = join(root, "src", "workers", "peers", "grpc-connection.ts");

/** Its gRPC is replaced. */
const PLUGIN_CONNECTION = join(root, "src", "shared", "kubernetes", "plugins", "connection.ts");

/** Packages with native code or files of their own; none of them is used by a simulated agent. */
const EXTERNAL = ["koffi", "piscina", "@grpc/proto-loader"];

const REQUIRE = 'import { createRequire as _require } from "node:module"; const require = _require(import.meta.url);';

const replacements: Plugin = {
  name: "the simulated machine's modules",
  setup(builder) {
    builder.onResolve({ filter: /^(node:)?[a-z0-9_/]+$/ }, ({ path, importer }) => {
      if (importer.startsWith(`${simulation}/`) || importer.includes("/node_modules/")) return undefined;
      if (path === "node:http2" && importer === PROBE_CONNECTION) return { path: replacement("http2") };
      const name = NODE_MODULES.get(path.replace(/^node:/, ""));
      return name === undefined ? undefined : { path: replacement(name) };
    });
    // To load it takes a fifth of the time of a start.
    builder.onResolve({ filter: /^dockerode$/ }, () => ({ path: replacement("dockerode") }));
    builder.onResolve({ filter: /^@homebridge\/dbus-native$/ }, () => ({ path: replacement("dbus") }));
    builder.onResolve({ filter: /^@grpc\/grpc-js$/ }, ({ importer }) =>
      importer === PLUGIN_CONNECTION ? { path: replacement("plugin-grpc") } : undefined,
    );
    builder.onResolve({ filter: /^\.{1,2}\// }, ({ path, importer }) => {
      const name = OWN_MODULES.get(resolve(dirname(importer), path).replace(/\.js$/, ".ts"));
      // A replacement may use the file that it replaces.
      if (name === undefined || importer === replacement(name)) return undefined;
      return { path: replacement(name) };
    });
  },
};

/** A mutant whose text is not in its file any more. */
class StaleMutantError extends Error {
  override readonly name = "StaleMutantError";
  constructor({ name, file, text }: Mutant) {
    super(`the mutant "${name}" no longer applies: ${file} must have once: ${text}`);
  }
}

function mutation(mutant: Mutant): Plugin {
  const path = join(root, mutant.file);
  return {
    name: mutant.name,
    setup(builder) {
      builder.onLoad({ filter: /\.ts$/ }, async (file) => {
        if (file.path !== path) return undefined;
        return { contents: mutated(mutant, await readFile(path, "utf8")), loader: "ts" };
      });
    },
  };
}

/** @throws StaleMutantError */
export function mutated(mutant: Mutant, source: string): string {
  if (source.split(mutant.text).length !== 2) throw new StaleMutantError(mutant);
  return source.replace(mutant.text, () => mutant.replacement);
}

/** Path of the source of a mutant. */
export function sourceOf(mutant: Mutant): string {
  return join(root, mutant.file);
}

/** Returns the path of the bundle. @throws StaleMutantError */
export async function bundleSimulation(mutant?: Mutant): Promise<string> {
  const name = mutant === undefined ? "simulation" : `mutant-${mutant.name.replaceAll(/[^a-z0-9]+/g, "-")}`;
  if (mutant !== undefined) mutated(mutant, await readFile(sourceOf(mutant), "utf8"));
  const outfile = join(root, ".cache", "simulation", `${name}-${process.pid}.mjs`);
  await mkdir(dirname(outfile), { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: [join(simulation, "main.ts")],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22",
    sourcemap: "linked",
    sourcesContent: false,
    external: EXTERNAL,
    banner: { js: REQUIRE },
    plugins: [replacements, ...(mutant === undefined ? [] : [mutation(mutant)])],
    logLevel: "error",
  });
  return outfile;
}

/** The bundle with what belongs to it. */
export async function removeBundle(bundle: string): Promise<void> {
  await rm(bundle, { force: true });
  await rm(`${bundle}.map`, { force: true });
  await rm(compiledCodeOf(bundle), { recursive: true, force: true });
}
