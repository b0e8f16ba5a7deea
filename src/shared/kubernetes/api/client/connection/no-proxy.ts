// Servers that are reached without a proxy: those of this machine and of NO_PROXY, by Go's rules
// (https://pkg.go.dev/golang.org/x/net/http/httpproxy).

import { domainToASCII } from "node:url";
import { addressBits, bareHost, portOf } from "./address.js";

/** An IPv4 address in the form of an IPv6 address begins with these bits. */
const MAPPED = "0".repeat(80) + "1".repeat(16);

/** @param list of NO_PROXY */
export function isExempt(server: URL, list: string): boolean {
  const host = bareHost(server);
  const address = addressOf(host);
  if (host === "localhost" || isLoopback(address)) return true;
  const port = String(portOf(server));
  return list.split(",").some((entry) => matches(entry.trim().toLowerCase(), host, port, address));
}

function matches(entry: string, host: string, port: string, address: string | undefined): boolean {
  if (entry === "" || entry === "*") return entry === "*";
  const network = networkOf(entry);
  if (network !== undefined) return address !== undefined && isWithin(address, network);
  const [name, wanted] = splitPort(entry) ?? [entry, ""];
  if (name === "" || (wanted !== "" && wanted !== port)) return false;
  const own = addressOf(name);
  if (address !== undefined) return own === address;
  return own === undefined && isInDomain(host, name);
}

/** "example.com" and "*.example.com" have the domains below them, and the first one itself, too. */
function isInDomain(host: string, given: string): boolean {
  const name = given.startsWith("*.") ? given.slice(1) : given;
  if (name.startsWith(".")) return host.endsWith(inAscii(name));
  return host === inAscii(`.${name}`).slice(1) || host.endsWith(inAscii(`.${name}`));
}

/** `suffix` begins with a dot. */
function inAscii(suffix: string): string {
  const ascii = /^[\0-\x7f]*$/.test(suffix) ? suffix.slice(1) : domainToASCII(suffix.slice(1));
  return ascii === "" ? suffix : `.${ascii}`;
}

/** "host:port" or "[host]:port" in its two parts; undefined: there is no port. */
function splitPort(entry: string): [host: string, port: string] | undefined {
  const [, bracketed, plain, port = ""] = /^(?:\[([^[\]]*)\]|([^:[\]]*)):([^:[\]]*)$/.exec(entry) ?? [];
  const host = bracketed ?? plain;
  return host === undefined ? undefined : [host, port];
}

interface Network {
  /** 32 or 128 bits. */
  readonly base: string;
  readonly length: number;
}

/** undefined: the text is no network. */
function networkOf(entry: string): Network | undefined {
  const [, text = "", digits = ""] = /^([^/]+)\/(\d{1,8})$/.exec(entry) ?? [];
  const bits = bitsOf(text);
  const length = Number(digits);
  if (bits === undefined || length > bits.length) return undefined;
  return bits.startsWith(MAPPED)
    ? { base: bits.slice(MAPPED.length), length: length - MAPPED.length }
    : { base: bits, length };
}

function isWithin(address: string, { base, length }: Network): boolean {
  return length >= 0 && address.length === base.length && address.slice(0, length) === base.slice(0, length);
}

/** 32 bits of an IPv4 address in either form, 128 of others; undefined: the text is no address. */
function addressOf(text: string): string | undefined {
  const bits = bitsOf(text);
  return bits?.startsWith(MAPPED) === true ? bits.slice(MAPPED.length) : bits;
}

/** An address with a zone is none, as in Go. */
function bitsOf(text: string): string | undefined {
  return text.includes("%") ? undefined : addressBits(text);
}

function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  return address.length === 32 ? address.startsWith("01111111") : /^0{127}1$/.test(address);
}
