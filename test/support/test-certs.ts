// Certificates made for one test file: a CA, and what it signs. EC keys: an RSA key alone takes a tenth of a second.

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export interface TestPair {
  certFile: string;
  keyFile: string;
  cert: string;
  key: string;
}

export interface TestCa extends TestPair {
  /** A certificate of this CA; `days` below 0: expired; `names` "": without subjectAltName. */
  issue(name: string, options?: { names?: string; days?: number }): Promise<TestPair>;
  /** A CA whose certificate this one signs. */
  intermediate(name: string): Promise<TestCa>;
}

export interface CertFolder {
  dir: string;
  ca(name: string): Promise<TestCa>;
  remove(): Promise<void>;
}

const run = promisify(execFile);
const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

export async function certFolder(): Promise<CertFolder> {
  const dir = await mkdtemp(join(tmpdir(), "nodelet-certs-"));
  const pair = async (stem: string): Promise<TestPair> => {
    const [certFile, keyFile] = [join(dir, `${stem}.crt`), join(dir, `${stem}.key`)];
    const [cert, key] = await Promise.all([readFile(certFile, "utf8"), readFile(keyFile, "utf8")]);
    return { certFile, keyFile, cert, key };
  };
  let count = 0;
  const make = async (args: readonly string[], stem: string): Promise<TestPair> => {
    const out = ["-keyout", join(dir, `${stem}.key`), "-out", join(dir, `${stem}.crt`)];
    await run("openssl", ["req", "-x509", ...NEW_KEY, ...out, ...args]);
    return await pair(stem);
  };
  const caOf = (own: TestPair): TestCa => {
    const signed = (subject: string, days: number): string[] => [
      ...["-subj", subject, "-CA", own.certFile, "-CAkey", own.keyFile, "-days", String(days)],
    ];
    return {
      ...own,
      issue: (subject, { names = "IP:127.0.0.1", days = 2 } = {}) => {
        const alternatives = names === "" ? [] : ["-addext", `subjectAltName=${names}`];
        const leaf = ["-addext", "basicConstraints=critical,CA:false"];
        return make([...signed(subject, days), ...alternatives, ...leaf], `cert-${count++}`);
      },
      intermediate: async (name) =>
        caOf(
          await make([...signed(`/CN=${name}`, 2), "-addext", "basicConstraints=critical,CA:true"], `ca-${count++}`),
        ),
    };
  };
  return {
    dir,
    ca: async (name) => caOf(await make(["-subj", `/CN=${name}`, "-days", "2"], `ca-${count++}`)),
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}
