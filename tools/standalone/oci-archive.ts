// Writes an OCI image layout in a tar file, from which containerd and CRI-O import images. It needs only sha256 and
// the system's tar: no registry, no builder.
// Invariant: the same contents give the same bytes (names sorted, times zero, owner root), so that digests are
// stable and a cached archive stays valid. Layers are left uncompressed: then diff_id and digest are the same.

import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./exec.js";

/** An image to be written. */
export interface ImageSpec {
  /** Full reference with tag: `nodelet.local/busybox:1`. */
  reference: string;
  /** Folder whose contents become the only layer. */
  rootfs: string;
  /** The `config` object of the OCI image configuration: Env, Cmd, Entrypoint, WorkingDir, StopSignal. */
  config: {
    Env: string[];
    Entrypoint?: string[];
    Cmd?: string[];
    WorkingDir?: string;
    StopSignal?: string;
  };
}

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  annotations?: Record<string, string>;
  platform?: { architecture: string; os: string };
}

const TAR_FLAGS = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--format=ustar"];

/** The architecture as container images name it. */
function imageArchitecture(arch: string = process.arch): string {
  const names: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" };
  return names[arch] ?? arch;
}

/**
 * Writes one archive with all `images`. `workDir` is used for the layout and removed.
 * Both annotations name the image: the first is containerd's, the second is the OCI one.
 */
export async function writeOciArchive(images: readonly ImageSpec[], archive: string, workDir: string): Promise<void> {
  const layout = join(workDir, "layout");
  const blobs = join(layout, "blobs", "sha256");
  await mkdir(blobs, { recursive: true });
  try {
    const manifests: Descriptor[] = [];
    const forDocker: object[] = [];
    for (const image of images) {
      const { manifest, config, layer } = await writeImage(image, blobs, workDir);
      forDocker.push({ Config: pathOf(config), RepoTags: [image.reference], Layers: [pathOf(layer)] });
      manifests.push({
        ...manifest,
        annotations: {
          "io.containerd.image.name": image.reference,
          "org.opencontainers.image.ref.name": image.reference,
        },
        platform: { architecture: imageArchitecture(), os: "linux" },
      });
    }
    const index = { schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests };
    await writeFile(join(layout, "index.json"), JSON.stringify(index));
    await writeFile(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
    // For `docker load`, which reads no OCI layout before Docker 25; others ignore it beside index.json.
    await writeFile(join(layout, "manifest.json"), JSON.stringify(forDocker));
    await run("tar", [
      ...TAR_FLAGS,
      "-C",
      layout,
      "-cf",
      archive,
      "oci-layout",
      "index.json",
      "manifest.json",
      "blobs",
    ]);
  } finally {
    await rm(layout, { recursive: true, force: true });
  }
}

function pathOf({ digest }: Descriptor): string {
  return `blobs/${digest.replace(":", "/")}`;
}

interface WrittenImage {
  manifest: Descriptor;
  config: Descriptor;
  layer: Descriptor;
}

async function writeImage(image: ImageSpec, blobs: string, workDir: string): Promise<WrittenImage> {
  const layerFile = join(workDir, "layer.tar");
  await run("tar", [...TAR_FLAGS, "-C", image.rootfs, "-cf", layerFile, "."]);
  const layer = await writeBlob(blobs, "application/vnd.oci.image.layer.v1.tar", await readFile(layerFile));
  await rm(layerFile);
  const config = await writeJsonBlob(blobs, "application/vnd.oci.image.config.v1+json", {
    created: "1970-01-01T00:00:00Z",
    architecture: imageArchitecture(),
    os: "linux",
    config: image.config,
    rootfs: { type: "layers", diff_ids: [layer.digest] },
    history: [{ created: "1970-01-01T00:00:00Z", created_by: "nodelet standalone" }],
  });
  const manifest = await writeJsonBlob(blobs, "application/vnd.oci.image.manifest.v1+json", {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config,
    layers: [layer],
  });
  return { manifest, config, layer };
}

function writeJsonBlob(blobs: string, mediaType: string, value: unknown): Promise<Descriptor> {
  return writeBlob(blobs, mediaType, Buffer.from(JSON.stringify(value)));
}

async function writeBlob(blobs: string, mediaType: string, content: Buffer): Promise<Descriptor> {
  const hash = createHash("sha256").update(content).digest("hex");
  await writeFile(join(blobs, hash), content);
  return { mediaType, digest: `sha256:${hash}`, size: content.length };
}
