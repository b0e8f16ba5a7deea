// Certificates for tests, made by the openssl command: authorities and the certificates that they sign.

import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Pair {
  cert: string;
  key: string;
  certFile: string;
  keyFile: string;
}

export interface CertificateOptions {
  /** "/CN=admin/O=system:masters" */
  subject: string;
  /** "clientAuth" (default) or "serverAuth". */
  usage?: string;
  /** "IP:127.0.0.1" */
  names?: string;
  /** Days from now on; negative: it has ended. */
  days?: number;
}

export class TestCA {
  private serial = 1;

  private constructor(
    private readonly dir: string,
    readonly pair: Pair,
  ) {}

  /** Files go to `dir`, under names that begin with `name`. */
  static async create(dir: string, name = "ca"): Promise<TestCA> {
    const [certFile, keyFile] = [join(dir, `${name}.crt`), join(dir, `${name}.key`)];
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", keyFile];
    await run("openssl", ["req", "-x509", ...key, "-subj", `/CN=${name}`, "-days", "2", "-out", certFile]);
    return new TestCA(dir, await pairOf(certFile, keyFile));
  }

  /** A CA whose certificate this one signs. */
  async intermediate(name: string): Promise<TestCA> {
    const extensions = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign"];
    return new TestCA(this.dir, await this.sign(name, `/CN=${name}`, extensions, 1));
  }

  async issue(name: string, { subject, usage = "clientAuth", names, days = 1 }: CertificateOptions): Promise<Pair> {
    const extensions = [`extendedKeyUsage=${usage}`, ...(names === undefined ? [] : [`subjectAltName=${names}`])];
    return this.sign(name, subject, extensions, days);
  }

  private async sign(name: string, subject: string, extensions: readonly string[], days: number): Promise<Pair> {
    const at = (end: string): string => join(this.dir, `${name}.${end}`);
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", at("key")];
    await run("openssl", ["req", "-new", ...key, "-subj", subject, "-out", at("csr")]);
    await writeFile(at("ext"), extensions.join("\n"));
    const signer = ["-CA", this.pair.certFile, "-CAkey", this.pair.keyFile, "-set_serial", String(++this.serial)];
    const rest = ["-extfile", at("ext"), "-days", String(days), "-out", at("crt")];
    await run("openssl", ["x509", "-req", "-in", at("csr"), ...signer, ...rest]);
    return pairOf(at("crt"), at("key"));
  }
}

async function pairOf(certFile: string, keyFile: string): Promise<Pair> {
  const [cert, key] = await Promise.all([readFile(certFile, "utf8"), readFile(keyFile, "utf8")]);
  return { cert, key, certFile, keyFile };
}
