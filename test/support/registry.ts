// Debian's docker-registry on loopback, without TLS, with optional basic auth. A function puts the test image into it.
// It runs in the network namespace of the tests, where the runtime finds it.

import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../tools/standalone/exec.js";
import { waitFor } from "../../tools/standalone/wait.js";
import { freePort } from "./free-port.js";

export const USER = "tester";
export const PASSWORD = "hunter2";
/** bcrypt of the password, which is all that the registry takes. */
const HTPASSWD = `${USER}:$2y$05$e8YHKb7psjEaZ2Ub9RziQO52qQ9M9hN21nYfD67iFR0cROqtTCZau\n`;
const BASIC = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString("base64")}`;

interface PushedImage {
  /** OCI archive that has it. */
  archive: string;
  /** Its name there. */
  source: string;
  repository: string;
  tag: string;
  /** Bytes that make it another image. */
  padding?: number;
}

export interface TestRegistry {
  /** "127.0.0.1:23456": the beginning of its images' names. */
  readonly address: string;
  push(image: PushedImage): Promise<void>;
  stop(): Promise<void>;
}

export async function startRegistry({ auth }: { auth: boolean }): Promise<TestRegistry> {
  const dir = await mkdtemp(join(tmpdir(), "nodelet-registry-"));
  const address = `127.0.0.1:${await freePort()}`;
  await writeFile(join(dir, "htpasswd"), HTPASSWD);
  const config = {
    version: 0.1,
    log: { level: "error", accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: join(dir, "data") } },
    http: { addr: address, secret: "test" },
    ...(auth ? { auth: { htpasswd: { realm: "test", path: join(dir, "htpasswd") } } } : {}),
  };
  // JSON is YAML.
  await writeFile(join(dir, "config.yml"), JSON.stringify(config));
  const child = spawn("docker-registry", ["serve", join(dir, "config.yml")], { stdio: "ignore" });
  const ended = once(child, "exit");
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
    await rm(dir, { recursive: true, force: true });
  };
  try {
    await waitFor(async () => (await fetch(`http://${address}/v2/`)).status < 500, { what: "the registry to respond" });
  } catch (error) {
    await stop();
    throw error;
  }
  return { address, push: (image) => push(address, dir, image), stop };
}

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  annotations?: Record<string, string>;
}

interface Manifest {
  config: Descriptor;
  layers: Descriptor[];
}

async function push(address: string, dir: string, image: PushedImage): Promise<void> {
  const layout = await mkdtemp(join(dir, "layout-"));
  await run("tar", ["-xf", image.archive, "-C", layout]);
  const blobs = new Map<string, Buffer>();
  const blob = async ({ digest }: Descriptor): Promise<Buffer> =>
    blobs.get(digest) ?? (await readFile(join(layout, "blobs", digest.replace(":", "/"))));
  const index = JSON.parse(await readFile(join(layout, "index.json"), "utf8")) as { manifests: Descriptor[] };
  const found = index.manifests.find(({ annotations }) => annotations?.["io.containerd.image.name"] === image.source);
  if (found === undefined) throw new Error(`${image.archive} has no image ${image.source}`);
  let manifest = await blob(found);
  if (image.padding !== undefined) manifest = await padded(manifest, blob, blobs, layout, image.padding);
  const { config, layers } = JSON.parse(manifest.toString("utf8")) as Manifest;
  const base = `http://${address}/v2/${image.repository}`;
  for (const part of [config, ...layers]) {
    const begun = await send("POST", `${base}/blobs/uploads/`, 202);
    const place = new URL(begun.headers.get("location") ?? "", base);
    place.searchParams.set("digest", part.digest);
    await send("PUT", place.href, 201, await blob(part), "application/octet-stream");
  }
  await send("PUT", `${base}/manifests/${image.tag}`, 201, manifest, found.mediaType);
}

/** The manifest with one more layer, of random bytes: no runtime has it already. */
async function padded(
  manifest: Buffer,
  blob: (of: Descriptor) => Promise<Buffer>,
  blobs: Map<string, Buffer>,
  layout: string,
  bytes: number,
): Promise<Buffer> {
  const add = (content: Buffer): { digest: string; size: number } => {
    const digest = `sha256:${createHash("sha256").update(content).digest("hex")}`;
    blobs.set(digest, content);
    return { digest, size: content.length };
  };
  await writeFile(join(layout, "padding"), randomBytes(bytes));
  await run("tar", ["-C", layout, "-cf", join(layout, "layer.tar"), "padding"]);
  const layer = add(await readFile(join(layout, "layer.tar")));
  const whole = JSON.parse(manifest.toString("utf8")) as Manifest;
  const config = JSON.parse((await blob(whole.config)).toString("utf8")) as { rootfs: { diff_ids: string[] } };
  config.rootfs.diff_ids.push(layer.digest);
  return Buffer.from(
    JSON.stringify({
      ...whole,
      config: { ...whole.config, ...add(Buffer.from(JSON.stringify(config))) },
      layers: [...whole.layers, { mediaType: "application/vnd.oci.image.layer.v1.tar", ...layer }],
    }),
  );
}

async function send(method: string, url: string, expected: number, body?: Buffer, type?: string): Promise<Response> {
  const response = await fetch(url, {
    method,
    headers: { authorization: BASIC, ...(type === undefined ? {} : { "content-type": type }) },
    ...(body === undefined ? {} : { body: new Uint8Array(body) }),
  });
  if (response.status !== expected) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
  return response;
}
