// Checks of single values beyond their type. Each returns what is accepted when the value is not
// (it completes "… is not"), else undefined.
import { isIP, isIPv4 } from "node:net";

export type Check<T> = (value: T) => string | undefined;

export const atLeast =
  (low: number): Check<number> =>
  (value) =>
    value >= low ? undefined : `a number of at least ${low}`;

export const between =
  (low: number, high: number): Check<number> =>
  (value) =>
    value >= low && value <= high ? undefined : `a number from ${low} to ${high}`;

export const port: Check<number> = (value) =>
  value >= 0 && value <= 65535 ? undefined : "a port from 1 to 65535, or 0 for off";

export const notNegative: Check<number> = (value) => (value >= 0 ? undefined : "a duration of 0 or more");

export const oneOf =
  (...words: string[]): Check<string> =>
  (value) =>
    words.includes(value) ? undefined : words.join(" or ");

export const ip: Check<string> = (value) => (isIP(value) > 0 ? undefined : "an IP address");

export const ips: Check<string[]> = (values) => (values.every((value) => isIP(value) > 0) ? undefined : "IP addresses");

/** --node-ip: one address, or one of each family. */
export const nodeIPs: Check<string[]> = (values) => {
  const families = new Set(values.map((value) => isIPv4(value)));
  const fine = values.every((value) => isIP(value) > 0) && values.length <= 2 && families.size === values.length;
  return fine ? undefined : "one IP address, or an IPv4 and an IPv6 address separated by a comma";
};

export const absolutePath: Check<string> = (value) => {
  const clean = value.startsWith("/") && !/\/\/|\/\.\.?(\/|$)/.test(value) && (value === "/" || !value.endsWith("/"));
  return clean && /^[\x20-\x7e]+$/.test(value) ? undefined : "an absolute path in plain form, ASCII only";
};

export const endpoint: Check<string> = (value) =>
  /^(unix:\/\/)?\/[^/]/.test(value) ? undefined : 'a socket such as "unix:///run/containerd/containerd.sock"';

/** Like `endpoint`, or empty. */
export const endpointOrEmpty: Check<string> = (value) => (value === "" ? undefined : endpoint(value));

export const httpUrlOrEmpty: Check<string> = (value) =>
  value === "" || (/^https?:\/\//.test(value) && URL.canParse(value)) ? undefined : "an http:// or https:// URL";

export const unset: Check<string> = (value) =>
  value === ""
    ? undefined
    : "accepted: cluster mode is not in this version; leave it out to run stand-alone on static pods (--pod-manifest-path)";
