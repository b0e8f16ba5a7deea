// Signatures by gpg, with a key that it knows: of apt's index, and of the checksums that install.sh verifies.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { isCommandFailed, run } from "../../standalone/exec.js";
import { messageOf, SetupProblem } from "../../standalone/problem.js";

export interface SignatureOptions {
  /** Fingerprint, or another name that gpg takes for one key. */
  key: string;
  /** inline: the text with its signature; beside: the signature alone. */
  form: "inline" | "beside";
  to: string;
}

const TIMEOUT_MS = 60_000;

/** @throws SetupProblem with what gpg says */
export async function sign(file: string, { key, form, to }: SignatureOptions): Promise<void> {
  const how = form === "inline" ? ["--clearsign"] : ["--armor", "--detach-sign"];
  try {
    const words = ["--batch", "--yes", "--local-user", key, "--digest-algo", "SHA512", ...how, "--output", to, file];
    await run("gpg", words, { timeoutMs: TIMEOUT_MS });
  } catch (error) {
    if (isCommandFailed(error)) throw new SetupProblem(`${file} is not signed: ${error.message}`);
    throw error;
  }
}

/** The public key, as apt and gpgv take it in a keyring. @throws SetupProblem */
export async function exportKey(key: string): Promise<Buffer> {
  const { stdout } = await promisify(execFile)("gpg", ["--batch", "--export", key], {
    encoding: "buffer",
    timeout: TIMEOUT_MS,
  }).catch((error: unknown) => {
    throw new SetupProblem(`gpg exports no key ${key}: ${messageOf(error)}`);
  });
  if (stdout.length === 0) throw new SetupProblem(`gpg knows no public key ${key}`);
  return stdout;
}
