// The list of what a package contains, as CycloneDX 1.5. Same input, same bytes: no time of day, no random number.

import { createHash } from "node:crypto";
import type { LockedPackage } from "./lock.js";
import type { Pin } from "./pins.js";

export interface Contents {
  version: string;
  /** Seconds since 1970. */
  epoch: number;
  node: Pin;
  packages: readonly LockedPackage[];
}

/** JSON text. */
export function sbom({ version, epoch, node, packages }: Contents): string {
  const nodeVersion = node.version;
  const components = [
    {
      type: "platform",
      "bom-ref": `pkg:npm/${node.name}@${nodeVersion}`,
      name: "node",
      version: nodeVersion,
      // Databases of vulnerabilities know Node.js by this name, not by that of its npm package.
      cpe: `cpe:2.3:a:nodejs:node.js:${nodeVersion}:*:*:*:*:*:*:*`,
      purl: `pkg:npm/${node.name}@${nodeVersion}`,
      hashes: hashes(node),
      licenses: [{ license: { id: "MIT" } }],
    },
    ...packages.map((one) => ({
      type: "library",
      "bom-ref": purl(one),
      name: one.name,
      version: one.version,
      purl: purl(one),
      hashes: hashes(one),
      licenses: [licence(one.license)],
    })),
  ];
  const unique = [...new Map(components.map((one) => [one.purl, one])).values()];
  const body = {
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: {
        type: "application",
        "bom-ref": `pkg:generic/nodelet@${version}`,
        name: "nodelet",
        version,
        licenses: [{ license: { id: "Apache-2.0" } }],
      },
    },
    components: unique,
  };
  const digest = createHash("sha256").update(JSON.stringify(body)).digest("hex");
  const parts = [digest.slice(0, 8), digest.slice(8, 12), `5${digest.slice(13, 16)}`, `8${digest.slice(17, 20)}`];
  const serialNumber = `urn:uuid:${[...parts, digest.slice(20, 32)].join("-")}`;
  const document = { bomFormat: "CycloneDX", specVersion: "1.5", serialNumber, version: 1, ...body };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function purl({ name, version }: Pin): string {
  return `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
}

/** npm's hash is base64, CycloneDX wants hexadecimal digits. */
function hashes({ integrity }: Pin): object[] {
  const content = Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex");
  return [{ alg: "SHA-512", content }];
}

/** One identifier, an expression of several, or a name that SPDX does not know. */
function licence(text: string): object {
  if (/ (AND|OR|WITH) /.test(text)) return { expression: text };
  return { license: /^[\w.+-]+$/.test(text) && text !== "NOASSERTION" ? { id: text } : { name: text } };
}
