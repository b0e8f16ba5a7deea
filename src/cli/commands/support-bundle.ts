// nodelet support-bundle: what an issue needs, in one tar.gz: secrets are masked, and every part is bounded. It works
// without a kubelet.

import { rm, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { errorCode } from "../../shared/base/errors/error-code.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import { BundleClient } from "../bundle/bundle-client.js";
import { collect, contentsText, type Collected } from "../bundle/collect.js";
import type { Part, Sources } from "../bundle/part.js";
import { doctorParts } from "../bundle/parts/doctor.js";
import { kubeletParts } from "../bundle/parts/kubelet.js";
import { machineParts } from "../bundle/parts/machine.js";
import { manifestPart } from "../bundle/parts/manifests.js";
import { runtimeParts } from "../bundle/parts/runtime.js";
import { whyPart } from "../bundle/parts/why.js";
import { Secrets } from "../bundle/secrets.js";
import { tar } from "../bundle/tar.js";
import type { Context } from "../context.js";
import { CliError, EXIT, type ExitCode } from "../errors.js";
import { bytes } from "../output/amounts.js";
import { Positions } from "../stacks/positions.js";
import { resolveText } from "../stacks/resolve-text.js";

/** In the order in which a reader needs them. */
function partsOf(sources: Sources): Part[] {
  return [
    ...doctorParts(sources),
    whyPart(sources),
    manifestPart(sources),
    ...kubeletParts(sources),
    ...machineParts(sources),
    ...runtimeParts(sources),
  ];
}

export async function bundleCommand(context: Context, { file }: { file?: string }): Promise<ExitCode> {
  const { clock, write } = context;
  const now = clock.now();
  const stamp = new Date(now).toISOString().slice(0, 19).replace(/[:T]/g, "-");
  const name = `nodelet-support-${stamp}`;
  const client = new BundleClient(context.client.socket);
  const secrets = new Secrets();
  const files = await withSources(await collect(partsOf({ client, context, clock, secrets }), clock, secrets));
  client.close();
  const all = [{ name: "contents.txt", content: contentsText(files) }, ...files];
  const named = all.map(({ name: part, content }) => ({ name: `${name}/${part}`, content }));
  const archive = await promisify(gzip)(tar(named, now));
  const path = file ?? `${name}.tar.gz`;
  try {
    await writeFile(path, archive, { mode: 0o600, flag: "wx" });
  } catch (error) {
    // Half an archive is of no use; a file that was there before stays.
    if (errorCode(error) !== "EEXIST") await rm(path, { force: true });
    throw new CliError(EXIT.wrong, `cannot write ${path}: ${messageOf(error)}`, "name another file with --file");
  }
  write(`wrote ${path} (${bytes(archive.length)}): ${all.map((part) => part.name).join(", ")}\n`);
  for (const [problem, parts] of problemsIn(files)) write(`  ${problem}: ${parts.join(", ")}\n`);
  write("secrets are masked as far as they can be recognised: look through it before you give it away\n");
  return EXIT.fine;
}

/** Stacks name the sources. Without the file of positions they stay as they are, for `nodelet resolve`. */
async function withSources(files: readonly Collected[]): Promise<readonly Collected[]> {
  const positions = await Positions.read().catch(() => undefined);
  if (positions === undefined) return files;
  const find = positions.find.bind(positions);
  return files.map((file) => ({ ...file, content: resolveText(file.content, find).text }));
}

/** Parts that are not whole, by what is wrong with them: without a kubelet, most have one reason. */
function problemsIn(files: readonly Collected[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name, problem } of files) {
    if (problem !== undefined) found.set(problem, [...(found.get(problem) ?? []), name]);
  }
  return found;
}
