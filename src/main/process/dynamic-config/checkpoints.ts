// Exact copies of configurations on disk, one folder per digest: manifest.json names the origin of each copy. A folder
// appears complete or not at all (made under a temporary name, synced, renamed), and every read compares the content
// with the digest. A damaged copy is set aside with a warning and counts as missing.

import { randomBytes } from "node:crypto";
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { atomicWrite, isTemporaryName } from "../../../shared/io/fs/atomic-write.js";
import { makeFolder } from "../../../shared/io/fs/make-folder.js";
import { readRegularText } from "../../../shared/io/fs/regular-file.js";
import { syncFolder } from "../../../shared/io/fs/sync-folder.js";
import type { ConfigMapReference } from "../../../shared/kubernetes/api/config-source.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { type ManifestFile, type Manifest, decodeManifest } from "./checkpoint-manifest.js";
import { digestOf, isDigest, type ConfigFiles, type ConfigText } from "./config-files.js";
import { CheckpointGarbageError } from "./errors.js";

/** Checkpoints kept besides those in use. */
const KEPT_CHECKPOINTS = 5;
const MANIFEST = "manifest.json";

export class Checkpoints {
  constructor(
    private readonly folder: string,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Creates the folder and removes incomplete checkpoints of a crash. Rejects only if the folder cannot be used. */
  async open(): Promise<void> {
    await makeFolder(this.folder, 0o700);
    const leftovers = (await readdir(this.folder)).filter(isTemporaryName);
    await Promise.all(leftovers.map((name) => rm(join(this.folder, name), { recursive: true, force: true })));
  }

  /** Saves a configuration unless it is there already; resolves once it is on disk. `digest` is digestOf(files). */
  async save(digest: string, files: ConfigFiles, source: string): Promise<void> {
    const saved = await this.load(digest);
    if (saved !== undefined) {
      // The same text at another resourceVersion, or of a ConfigMap that was made again.
      if (!isDeepStrictEqual(saved.configMap, files.configMap)) await this.rename(digest, files.configMap);
      return;
    }
    const temporary = join(this.folder, `.tmp-${digest}-${randomBytes(4).toString("hex")}`);
    try {
      await this.write(temporary, files, source);
      await rename(temporary, join(this.folder, digest));
      await syncFolder(this.folder);
    } catch (error) {
      await rm(temporary, { recursive: true, force: true });
      throw error;
    }
  }

  /** The configuration, exactly as it was saved; undefined when it is missing or was set aside as damaged. */
  async load(digest: string): Promise<ConfigFiles | undefined> {
    const path = join(this.folder, digest);
    try {
      const files = await readCheckpoint(path);
      if ((await digestOf(files)) === digest) return files;
      throw new CheckpointGarbageError(path, "its files are not the ones that were saved");
    } catch (error) {
      if (errorCode(error) === "ENOENT" && !(await exists(path))) return undefined;
      await this.setAside(path, error);
      return undefined;
    }
  }

  /** The newest checkpoint whose ConfigMap matches; damaged ones are passed over. */
  async find(matches: (reference: ConfigMapReference) => boolean): Promise<ConfigFiles | undefined> {
    const names = (await readdir(this.folder)).filter(isDigest);
    const found: { digest: string; createdAt: string }[] = [];
    for (const digest of names) {
      const manifest = await readManifest(join(this.folder, digest)).catch(() => undefined);
      if (manifest?.configMap !== undefined && matches(manifest.configMap)) found.push({ digest, ...manifest });
    }
    const newest = found.sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1))[0];
    return newest === undefined ? undefined : await this.load(newest.digest);
  }

  /** Deletes all but `keep` and the newest; what cannot be deleted is tried again next time. */
  async prune(keep: ReadonlySet<string>): Promise<void> {
    const names = (await readdir(this.folder)).filter((name) => isDigest(name) && !keep.has(name));
    const dated = await Promise.all(
      names.map(async (name) => {
        const stats = await stat(join(this.folder, name)).catch(() => undefined);
        return { name, time: stats?.mtimeMs ?? 0 };
      }),
    );
    const old = dated.sort((a, b) => b.time - a.time).slice(KEPT_CHECKPOINTS);
    await Promise.all(old.map(({ name }) => rm(join(this.folder, name), { recursive: true, force: true })));
  }

  private async rename(digest: string, configMap: ConfigMapReference | undefined): Promise<void> {
    const path = join(this.folder, digest);
    const { version, source, createdAt, files } = await readManifest(path);
    await writeManifest(path, omitUndefined({ version, source, createdAt, files, configMap }));
  }

  private async write(temporary: string, files: ConfigFiles, source: string): Promise<void> {
    await mkdir(temporary, { mode: 0o700 });
    const entries: ManifestFile[] = [];
    const copy = async (role: ManifestFile["role"], { path, text }: ConfigText): Promise<void> => {
      const name = copyName(entries.length, path);
      entries.push({ role, path, copy: name });
      await atomicWrite(join(temporary, name), text);
    };
    if (files.config !== undefined) await copy("config", files.config);
    for (const dropIn of files.dropIns) await copy("drop-in", dropIn);
    const createdAt = new Date(this.clock.now()).toISOString();
    const { configMap } = files;
    await writeManifest(temporary, omitUndefined({ version: 1, source, createdAt, files: entries, configMap }));
  }

  private async setAside(path: string, error: unknown): Promise<void> {
    const aside = `${path}.corrupt-${new Date(this.clock.now()).toISOString().replaceAll(":", "")}`;
    const fields = { path, aside, err: error };
    try {
      await rename(path, aside);
      this.log.warn(fields, `checkpoint ${path} is not usable: set aside as ${aside}, continuing without it`);
    } catch (cause) {
      this.log.warn(
        { ...fields, cause },
        `checkpoint ${path} is not usable and cannot be set aside; continuing without it`,
      );
    }
  }
}

async function readCheckpoint(path: string): Promise<ConfigFiles> {
  const manifest = await readManifest(path);
  let config: ConfigText | undefined;
  const dropIns: ConfigText[] = [];
  for (const file of manifest.files) {
    const entry = { path: file.path, text: await readRegularText(join(path, file.copy)) };
    if (file.role === "drop-in") dropIns.push(entry);
    else config = entry;
  }
  const { configMap } = manifest;
  return omitUndefined({ config, configMap, dropIns });
}

async function readManifest(path: string): Promise<Manifest> {
  return decodeManifest(JSON.parse(await readRegularText(join(path, MANIFEST))), path);
}

async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  await atomicWrite(join(folder, MANIFEST), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

/** A name to recognise the file by, short enough for any original name, and never that of a drop-in. */
function copyName(index: number, path: string): string {
  const plain = basename(path).replace(/[^\w.-]/g, "_");
  return `${index}-${plain.slice(-80)}.copy`;
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
