// Results of ADD, kept for DEL: in the place and form of libcni, so that its other users find them.
// Source: https://github.com/containernetworking/cni/blob/main/libcni/api.go (cachedInfo)
// Invariant: an entry is written after a successful ADD and removed after a successful DEL.

import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { isRecord } from "../../../shared/base/text/is-record.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import { readText } from "../read-text.js";
import { parseNetwork, type NetworkConfig } from "./cni-config.js";
import { IF_NAME, type Attachment } from "./cni-plugin.js";

const MAX_BYTES = 4 * 1024 * 1024;

export interface CachedResult {
  network: NetworkConfig;
  capabilities: Record<string, unknown>;
  result: unknown;
}

export class CniCache {
  private readonly dir: string;

  constructor(cacheDir: string) {
    this.dir = join(cacheDir, "results");
  }

  async write(network: NetworkConfig, attachment: Attachment, result: unknown): Promise<void> {
    const entry = {
      kind: "cniCacheV1",
      containerId: attachment.containerId,
      config: Buffer.from(JSON.stringify(network)).toString("base64"),
      ifName: IF_NAME,
      networkName: network.name,
      cniArgs: attachment.args.split(";").map((pair) => pair.split("=")),
      capabilityArgs: attachment.capabilities,
      result,
    };
    await atomicWrite(this.path(network.name, attachment.containerId), JSON.stringify(entry), { durable: false });
  }

  /** undefined: there is none, or it is damaged. */
  async read(networkName: string, containerId: string): Promise<CachedResult | undefined> {
    try {
      const entry: unknown = JSON.parse(await readText(this.path(networkName, containerId), MAX_BYTES));
      if (!isRecord(entry) || typeof entry["config"] !== "string") return undefined;
      const network = parseNetwork(JSON.parse(Buffer.from(entry["config"], "base64").toString("utf8")), true);
      const capabilities = isRecord(entry["capabilityArgs"]) ? entry["capabilityArgs"] : {};
      return { network, capabilities, result: entry["result"] };
    } catch {
      // Without it, DEL runs with the present configuration, as the specification allows.
      return undefined;
    }
  }

  async remove(networkName: string, containerId: string): Promise<void> {
    await unlink(this.path(networkName, containerId)).catch((error: unknown) => {
      if (errorCode(error) !== "ENOENT") throw error;
    });
  }

  private path(networkName: string, containerId: string): string {
    return join(this.dir, `${networkName}-${containerId}-${IF_NAME}`);
  }
}
