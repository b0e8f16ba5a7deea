// All credentials of a client. Files are checked on request (the transport does so once a minute) and after a 401; a
// plugin runs when its credentials expire or are refused. Between two checks nothing is read.

import type { Clock } from "../../../../base/clock/clock.js";
import type { CaReload } from "../../../../telemetry/metrics/transport.js";
import type { ClientConfig } from "../config.js";
import type { ExecCredential } from "./exec/exec-credential.js";
import type { ExecPlugin, ExecHooks } from "./exec/exec-plugin.js";
import type { ClientLog, TlsIdentity } from "./identity.js";
import { SourceText } from "./source-text.js";
import { TlsIdentities } from "./tls-identity.js";

export interface Proof {
  /** Undefined for http://. */
  tls: TlsIdentity | undefined;
  /** Lower case names. */
  headers: Readonly<Record<string, string | string[]>>;
}

export interface CredentialHooks extends ExecHooks {
  /** The file of the certificate authority was read again. */
  readonly onCaChecked?: (check: CaReload) => void;
}

export class Credentials {
  private readonly tls: TlsIdentities | undefined;
  private readonly tokenFile: SourceText | undefined;
  private readonly fixed: Readonly<Record<string, string | string[]>>;
  private proof: Promise<Proof> | undefined;
  /** Loaded only where there is one. */
  private plugin: ExecPlugin | undefined;

  constructor(
    private readonly config: ClientConfig,
    private readonly clock: Clock,
    private readonly log: ClientLog,
    private readonly hooks: CredentialHooks = {},
  ) {
    if (config.server.startsWith("https:")) this.tls = new TlsIdentities(config, clock, log, hooks.onCaChecked);
    if (config.tokenFile !== undefined) this.tokenFile = new SourceText({ file: config.tokenFile }, "token file");
    this.fixed = fixedHeaders(config);
  }

  /** Rejects with CredentialError. */
  async current(): Promise<Proof> {
    if (this.proof === undefined || this.plugin?.isDue === true) return await this.readProof();
    return await this.proof;
  }

  /** Reads all files again, now. Rejects with CredentialError. */
  async reload(): Promise<void> {
    await this.readProof();
  }

  /** The server refused this proof. @returns whether there is another one to try */
  async refused(proof: Proof): Promise<boolean> {
    const current = await this.proof;
    if (current !== undefined && current !== proof) return true;
    this.plugin?.refused();
    const next = await this.readProof().catch((error: unknown) => {
      this.log.warn({ err: error }, "The API server rejects the credentials, and no others are configured");
      return proof;
    });
    return next.tls !== proof.tls || next.headers["authorization"] !== proof.headers["authorization"];
  }

  private readProof(): Promise<Proof> {
    const looking = this.read();
    this.proof = looking;
    // A failure reaches the caller and is not cached.
    looking.catch(() => {
      if (this.proof === looking) this.proof = undefined;
    });
    return looking;
  }

  private async read(): Promise<Proof> {
    const ofPlugin = await this.ofPlugin();
    // A certificate in the kubeconfig comes before the plugin's, as with client-go.
    const pair = this.config.clientCertificate === undefined ? ofPlugin?.pair : undefined;
    const tls = await this.tls?.current(pair);
    const token = (await this.token()) ?? (this.config.basic === undefined ? ofPlugin?.token : undefined);
    const headers = token === undefined ? this.fixed : { ...this.fixed, authorization: `Bearer ${token}` };
    return { tls, headers };
  }

  private async ofPlugin(): Promise<ExecCredential | undefined> {
    const { config } = this;
    if (config.exec === undefined) return undefined;
    const { ExecPlugin } = await import("./exec/exec-plugin.js");
    this.plugin ??= new ExecPlugin(config.exec, config, this.clock, this.hooks);
    return await this.plugin.current();
  }

  private async token(): Promise<string | undefined> {
    if (this.tokenFile === undefined) return this.config.token;
    try {
      const token = (await this.tokenFile.read()).trim();
      if (token !== "") return token;
      this.log.warn({ file: this.config.tokenFile }, "The token file is empty");
    } catch (error) {
      if (this.config.token === undefined) throw error;
    }
    return this.config.token;
  }
}

function fixedHeaders({ basic, impersonate }: ClientConfig): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  if (basic !== undefined) {
    const pair = Buffer.from(`${basic.username}:${basic.password}`, "utf8").toString("base64");
    headers["authorization"] = `Basic ${pair}`;
  }
  if (impersonate !== undefined) {
    headers["impersonate-user"] = impersonate.user;
    if (impersonate.uid !== undefined) headers["impersonate-uid"] = impersonate.uid;
    if (impersonate.groups.length > 0) headers["impersonate-group"] = impersonate.groups;
    for (const [key, values] of Object.entries(impersonate.extra)) {
      headers[`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`] = values;
    }
  }
  return headers;
}
