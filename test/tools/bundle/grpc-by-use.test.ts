// What a bundle with grpc-js by use loads: by a client over a channel of its own, and by one over that of grpc-js.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url)).replace(/\/$/, "");

/** Bundles the text and runs it. Returns what it printed. */
async function run(context: TestContext, text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "grpc-by-use-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const { grpcByUse } = (await import(join(ROOT, "tools/bundle/grpc-by-use.mjs"))) as {
    grpcByUse: (root: string) => Plugin;
  };
  await writeFile(join(folder, "entry.mjs"), text);
  await build({
    entryPoints: [join(folder, "entry.mjs")],
    outfile: join(folder, "bundle.cjs"),
    nodePaths: [join(ROOT, "node_modules")],
    external: ["@grpc/proto-loader"],
    bundle: true,
    platform: "node",
    format: "cjs",
    plugins: [grpcByUse(ROOT)],
  });
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(folder, "bundle.cjs")], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

const HAS_HTTP2 = 'process.moduleLoadList.includes("NativeModule http2")';

test("a client over a channel of its own loads neither grpc-js' channel nor node:http2", async (context) => {
  const printed = await run(
    context,
    `import { ChannelCredentials, Client, Metadata, connectivityState, status } from "@grpc/grpc-js";
     const channelOverride = { close: () => console.log("closed") };
     const client = new Client("unix:///nowhere", ChannelCredentials.createInsecure(), { channelOverride });
     console.log(client.getChannel() === channelOverride, new Metadata().getMap(), status.OK, connectivityState.IDLE);
     client.close();
     console.log(${HAS_HTTP2});`,
  );
  assert.equal(printed, "true {} 0 0\nclosed\nfalse");
});

test("a client over grpc-js' channel and a server find all of it", async (context) => {
  const printed = await run(
    context,
    `import { ChannelCredentials, Client, Server, ServerCredentials } from "@grpc/grpc-js";
     import { mkdtempSync, rmSync } from "node:fs";
     const folder = mkdtempSync("${tmpdir()}/grpc-by-use-");
     const server = new Server();
     const path = "/t.T/Echo";
     const same = (bytes) => bytes;
     server.addService(
       { echo: { path, requestStream: false, responseStream: false, requestSerialize: same, requestDeserialize: same,
         responseSerialize: same, responseDeserialize: same } },
       { echo: (call, reply) => reply(null, call.request) },
     );
     server.bindAsync("unix://" + folder + "/s", ServerCredentials.createInsecure(), () => {
       const client = new Client("unix://" + folder + "/s", ChannelCredentials.createInsecure());
       client.makeUnaryRequest(path, same, same, Buffer.from("hello"), (error, value) => {
         console.log(error, String(value), ${HAS_HTTP2});
         client.close();
         server.forceShutdown();
         rmSync(folder, { recursive: true });
       });
     });`,
  );
  assert.equal(printed, "null hello true");
});
