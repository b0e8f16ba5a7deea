// Distinguished and alternative names in DER.

import { isIPv4, isIPv6 } from "node:net";
import { encode, oid, sequence, TAG } from "./der.js";

/** Attribute types, as the hex of their encoded bodies. @internal */
export const NAMES = { commonName: "550403", organization: "55040a" } as const;

export function distinguishedName(commonName: string, organizations: readonly string[]): Buffer {
  const pair = (type: string, value: string): Buffer =>
    encode(TAG.set, sequence(encode(TAG.oid, Buffer.from(type, "hex")), encode(TAG.utf8, Buffer.from(value))));
  return sequence(...organizations.map((name) => pair(NAMES.organization, name)), pair(NAMES.commonName, commonName));
}

/** The value of a subjectAltName extension: addresses and DNS names. */
export function alternativeNames(names: readonly string[]): Buffer {
  return sequence(
    ...names.map((name) => {
      if (isIPv4(name)) return encode(0x87, Buffer.from(name.split(".").map(Number)));
      if (isIPv6(name)) return encode(0x87, ipv6Bytes(name));
      return encode(0x82, Buffer.from(name));
    }),
  );
}

function ipv6Bytes(address: string): Buffer {
  const [head = "", tail] = address.split("::");
  const groups = (text: string): string[] => text.split(":").filter((group) => group !== "");
  const after = tail === undefined ? [] : groups(tail);
  const missing = 8 - groups(head).length - after.length;
  const all = [...groups(head), ...Array.from({ length: missing }, () => "0"), ...after];
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex");
}

export const EXTENSION = {
  basicConstraints: oid("2.5.29.19"),
  keyUsage: oid("2.5.29.15"),
  extendedKeyUsage: oid("2.5.29.37"),
  altName: oid("2.5.29.17"),
  subjectKeyId: oid("2.5.29.14"),
  authorityKeyId: oid("2.5.29.35"),
} as const;

export const USAGE = { server: oid("1.3.6.1.5.5.7.3.1"), client: oid("1.3.6.1.5.5.7.3.2") } as const;
