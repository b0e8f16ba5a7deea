// nodelet cp: copies a file or folder out of a container or into one. As kubectl cp, it uses tar in the container and
// on this machine.
// Invariant: tar unpacks a container's archive into a new folder beside the target. Only files and folders are moved
// from there to the target, without set-uid bits; links and devices are deleted with that folder.

import { spawn, type ChildProcessWithoutNullStreams as ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, lstat, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, posix, resolve } from "node:path";
import { PassThrough, Writable, type Readable } from "node:stream";
import type { Context } from "../context.js";
import { CliError, EXIT } from "../errors.js";
import { parseCopy, type PodSide } from "../exec/copy-sides.js";
import { execIn, type ExecRequest } from "../exec/session.js";
import { renaming } from "../exec/tar-renaming.js";
import { printFailure } from "../output/terminal.js";
import { findPod, podsOf } from "../pods/find.js";
import { containerName } from "../pods/pod-paths.js";

export interface CopyOptions {
  namespace?: string;
  container?: string;
}

const SPECIAL_BITS = 0o7000;
/** Characters of a program's messages. */
const SHOWN = 2000;

/** Resolves to the exit code of nodelet. */
export async function copyCommand(
  context: Context,
  source: string,
  target: string,
  { namespace, container }: CopyOptions,
): Promise<number> {
  const copy = parseCopy(source, target);
  const found = findPod(await podsOf(context.client), copy.side.pod, namespace);
  const where = { pod: found, container: containerName(found, container) };
  if (copy.out) await copyOut(context, where, copy.side, copy.local);
  else await copyIn(context, where, copy.side, copy.local);
  return EXIT.fine;
}

type Where = Pick<ExecRequest, "pod" | "container">;

async function copyOut(context: Context, where: Where, { path }: PodSide, local: string): Promise<void> {
  const name = posix.basename(path);
  const wanted = resolve(local);
  const target = (await isDirectory(wanted)) ? join(wanted, name) : wanted;
  if (await isDirectory(target)) {
    throw new CliError(EXIT.wrong, `${target} is a folder already`, "remove it, or name another target");
  }
  if (!(await isDirectory(dirname(target)))) {
    throw new CliError(EXIT.wrong, `there is no folder ${dirname(target)}`, "make it, or name another target");
  }
  const work = await mkdtemp(join(dirname(target), ".nodelet-cp-"));
  try {
    const command = ["tar", "cf", "-", "-C", posix.dirname(path), `./${name}`];
    const unpack = ["--extract", "--no-same-owner", "--no-same-permissions", "--file=-", `--directory=${work}`];
    await withLocalTar(unpack, ({ stdin }) =>
      inContainer(context, { ...where, command }, { stdout: stdin }).finally(() => stdin.end()),
    );
    const skipped = await keepFiles(join(work, name), name);
    for (const one of skipped) printFailure(`${one} is no file and no folder: not copied`);
    if (skipped.includes(name)) return;
    await rename(join(work, name), target);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function copyIn(context: Context, where: Where, { path }: PodSide, local: string): Promise<void> {
  const source = resolve(local);
  const info = await lstat(source).catch(() => undefined);
  if (info === undefined) throw new CliError(EXIT.wrong, `there is no file ${source}`);
  const inside = (await exitCode(context, { ...where, command: ["test", "-d", path] })) === 0;
  const folder = inside ? path : posix.dirname(path);
  const name = basename(source);
  const pack = ["--create", "--no-unquote", "--file=-", `--directory=${dirname(source)}`];
  const command = ["tar", "xmf", "-", "-C", folder];
  const args = [...pack, ...renaming(name, inside ? name : posix.basename(path)), "--", name];
  await withLocalTar(args, async ({ stdout }) => {
    // Node discards the output of a program that ends before its output is read.
    const packed = stdout.pipe(new PassThrough());
    await inContainer(context, { ...where, command }, { stdin: packed });
    packed.resume();
  });
}

/**
 * Removes all entries of an unpacked tree but files and folders, and clears special bits. Returns the names of the
 * removed entries.
 */
async function keepFiles(path: string, name: string): Promise<string[]> {
  const info = await lstat(path).catch(() => undefined);
  if (info === undefined) throw new CliError(EXIT.wrong, `the container sent no ${name}`);
  if (!info.isFile() && !info.isDirectory()) {
    await rm(path);
    return [name];
  }
  if ((info.mode & SPECIAL_BITS) !== 0) await chmod(path, info.mode & 0o777);
  if (info.isFile()) return [];
  const skipped: string[] = [];
  for (const entry of await readdir(path)) skipped.push(...(await keepFiles(join(path, entry), `${name}/${entry}`)));
  return skipped;
}

async function isDirectory(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() === true;
}

/** Runs tar in the container. @throws CliError with tar's message */
async function inContainer(
  { client }: Context,
  request: ExecRequest,
  streams: { stdin?: Readable; stdout?: Writable },
): Promise<void> {
  const said = new Collected();
  const code = await execIn(client, request, { stdout: new Collected(), stderr: said, ...streams }).catch(
    (error: unknown) => {
      if (!(error instanceof CliError)) throw error;
      throw new CliError(error.exitCode, error.message, "nodelet cp needs the program tar in the container's image");
    },
  );
  if (code !== 0) throw new CliError(EXIT.wrong, `tar in the container failed: ${said.text() || `exit code ${code}`}`);
}

function exitCode({ client }: Context, request: ExecRequest): Promise<number> {
  return execIn(client, request, { stdout: new Collected(), stderr: new Collected() });
}

/**
 * Runs tar on this machine beside `use`, which moves its data; ends it when `use` fails.
 * @throws CliError with tar's message
 */
async function withLocalTar(args: readonly string[], use: (tar: ChildProcess) => Promise<void>): Promise<void> {
  const child = spawn("tar", args, { stdio: ["pipe", "pipe", "pipe"] });
  // tar may end before it has read everything: its exit code counts.
  child.stdin.on("error", () => undefined);
  const said = new Collected();
  child.stderr.pipe(said);
  const ended = async (): Promise<void> => {
    const [code] = (await once(child, "close")) as [number | null];
    if (code !== 0) throw new CliError(EXIT.wrong, `tar failed: ${said.text() || `exit code ${code ?? "unknown"}`}`);
  };
  try {
    await Promise.all([use(child), ended()]);
  } finally {
    child.stdout.destroy();
    child.kill();
  }
}

/** Keeps the first characters that are written to it. */
class Collected extends Writable {
  private kept = "";

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.kept.length < SHOWN) this.kept = (this.kept + chunk.toString("utf8")).slice(0, SHOWN);
    done();
  }

  text(): string {
    return this.kept.trim();
  }
}
