// --image-credential-provider-config and --image-credential-provider-bin-dir as settings. The first is one file, or a
// flat directory of .json, .yaml and .yml files in alphabetical order. Every plugin must be there and executable.

import { createHash } from "node:crypto";
import { access, constants, readdir, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import type { OperatorError } from "../../../../shared/base/errors/operator-error.js";
import { messageOf } from "../../../../shared/base/errors/thrown.js";
import { quote } from "../../../../shared/base/text/quote.js";
import { readRegularFile } from "../../../../shared/io/fs/regular-file.js";
import { FileTooLargeError } from "../../../../shared/io/fs/untrusted-file.js";
import { type CredentialProviderSettings, credentialProviderConfigError } from "./config.js";
import { readProviderConfig, type ReadProviders } from "./read-config.js";

export interface ProviderFlags {
  imageCredentialProviderConfig: string;
  imageCredentialProviderBinDir: string;
  /** The gate of this name. */
  kubeletServiceAccountTokenForCredentialProviders: boolean;
}

export interface LoadedProviders {
  binDir: string;
  providers: CredentialProviderSettings[];
  /** "sha256:…" of the files, for the metric with the hash of the current configuration. */
  hash: string;
}

const CONFIG_ENDINGS: ReadonlySet<string> = new Set([".json", ".yaml", ".yml"]);
export const SIZE_LIMIT = 10 * 1024 * 1024;

/** Throws OperatorError with everything that is wrong. */
export async function loadProviders(flags: ProviderFlags): Promise<LoadedProviders> {
  const { imageCredentialProviderConfig: config, imageCredentialProviderBinDir: binDir } = flags;
  if (config === "" || binDir === "") {
    const [given, missing] = config === "" ? ["bin-dir", "config"] : ["config", "bin-dir"];
    const why = `--image-credential-provider-${given} is given without --image-credential-provider-${missing}`;
    throw credentialProviderConfigError([`${why}: give both or none`]);
  }
  const hash = createHash("sha256");
  const read: ReadProviders[] = [];
  for (const file of await configFiles(config)) {
    const text = await readBytes(file);
    hash.update(`${file}\0`).update(text).update("\0");
    read.push(
      readProviderConfig(text, { file, tokensAllowed: flags.kubeletServiceAccountTokenForCredentialProviders }),
    );
  }
  const providers = read.flatMap((one) => one.providers);
  const problems = [
    ...read.flatMap((one) => one.problems),
    ...repeated(providers),
    ...(await missingPlugins(providers, binDir)),
  ];
  if (problems.length > 0) throw credentialProviderConfigError(problems);
  return { binDir, providers, hash: `sha256:${hash.digest("hex")}` };
}

async function configFiles(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const found = await readdir(path, { withFileTypes: true });
    const files = found
      .filter((entry) => !entry.isDirectory() && CONFIG_ENDINGS.has(extname(entry.name)))
      .map(({ name }) => join(path, name))
      .sort();
    if (files.length > 0) return files;
  } catch (error) {
    throw unreadable(path, error);
  }
  throw credentialProviderConfigError([`${path} has no file that ends in .json, .yaml or .yml`]);
}

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    return await readRegularFile(file, SIZE_LIMIT);
  } catch (error) {
    if (error instanceof FileTooLargeError) throw credentialProviderConfigError([error.message]);
    throw unreadable(file, error);
  }
}

function unreadable(path: string, error: unknown): OperatorError {
  const why = messageOf(error);
  return credentialProviderConfigError([`${path} can't be read: ${why}`], { cause: error });
}

function repeated(providers: readonly CredentialProviderSettings[]): string[] {
  const seen = new Set<string>();
  const twice = providers.map(({ name }) => name).filter((name) => name !== "" && seen.size === seen.add(name).size);
  return [...new Set(twice)].map((name) => `the provider ${quote(name)} is configured twice`);
}

async function missingPlugins(providers: readonly CredentialProviderSettings[], binDir: string): Promise<string[]> {
  const checks = providers.map(async ({ name }) => {
    const path = join(binDir, name);
    const usable = name === "" || ((await isFile(path)) && (await isExecutable(path)));
    return usable ? [] : [`the plugin ${path} is not there or not executable`];
  });
  return (await Promise.all(checks)).flat();
}

function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
