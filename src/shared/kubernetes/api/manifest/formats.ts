// Formats of names and values in a Pod (DNS labels, environment names, IP addresses, …), as the API server has them.

import { isIP } from "node:net";

/** Returns the allowed format if a value breaks it; undefined if the value is valid. */
export type FormatRule<T> = (value: T) => string | undefined;

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const rule =
  (allowed: string, test: (value: string) => boolean): FormatRule<string> =>
  (value) =>
    test(value) ? undefined : allowed;

export const dnsLabel = rule(
  'a DNS label: lower-case letters, digits and "-", at most 63 characters, a letter or digit at both ends',
  (value) => value.length <= 63 && LABEL.test(value),
);
export const dnsSubdomain = rule(
  'a DNS name: lower-case letters, digits, "-" and ".", at most 253 characters, a letter or digit at both ends of each part',
  (value) => value.length <= 253 && SUBDOMAIN.test(value),
);
export const notEmpty = rule("a text that is not empty", (value) => value !== "");
/** A zone names an interface of the node, so it is no address of a pod's files. */
export const ipAddressWithoutZone = rule(
  "an IP address without a zone",
  (value) => isIP(value) !== 0 && !value.includes("%"),
);
export const ipAddressOrEmpty = rule("an IP address", (value) => value === "" || isIP(value) !== 0);

/** Names of environment variables: any printable ASCII but "=" (relaxed validation, default since 1.34). */
export const envName = rule('printable ASCII characters other than "="', (value) => /^[ -<>-~]+$/.test(value));

export const portName = rule(
  'at most 15 lower-case letters, digits and "-", with at least one letter, no "--", a letter or digit at both ends',
  (value) => value.length <= 15 && LABEL.test(value) && /[a-z]/.test(value) && !value.includes("--"),
);

/** A label or annotation key: optional DNS prefix, "/", name of at most 63 characters. */
export function isQualifiedName(value: string): boolean {
  const slash = value.indexOf("/");
  const prefix = slash < 0 ? undefined : value.slice(0, slash);
  const name = value.slice(slash + 1);
  if (prefix !== undefined && (prefix.length > 253 || !SUBDOMAIN.test(prefix))) return false;
  return name.length > 0 && name.length <= 63 && QUALIFIED_PART.test(name);
}
export const qualifiedName = rule(
  'a qualified name: an optional DNS prefix and "/", then at most 63 letters, digits, "-", "_" or "."',
  isQualifiedName,
);
export const labelValue = rule(
  'at most 63 letters, digits, "-", "_" or ".", a letter or digit at both ends, or nothing',
  (value) => value === "" || (value.length <= 63 && QUALIFIED_PART.test(value)),
);

const SYSCTL_PART = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const SYSCTL = new RegExp(`^(${SYSCTL_PART}[./])*${SYSCTL_PART}$`);
export const sysctlName = rule(
  "a kernel parameter such as net.ipv4.tcp_syncookies",
  (value) => value.length <= 253 && SYSCTL.test(value),
);
/** A host path may not climb: each ".." step is refused. */
export const noBackSteps = rule('a path without ".." steps', (value) => !value.split("/").includes(".."));
/** A path below a volume's root. */
export const relativePath = rule(
  'a relative path without ".." steps',
  (value) => !value.startsWith("/") && !value.split("/").includes(".."),
);
/** A file that the kubelet writes into a volume: the names that begin with ".." are its own. */
export const writtenPath = rule(
  'a relative path without ".." steps that does not begin with ".."',
  (value) => relativePath(value) === undefined && !value.startsWith(".."),
);
/** A static pod's name: "-" and the node's name follow. */
export const staticName = rule(
  'a DNS name: lower-case letters, digits, "-" and ".", at most 253 characters, a letter or digit at both ends of each part',
  (value) => value.length <= 253 && SUBDOMAIN.test(`${value}-0`),
);
/** Narrower than HTTP, as in the API. */
export const headerName = rule('a header name of letters, digits and "-"', (value) => /^[-A-Za-z0-9]+$/.test(value));
export const absolutePath = rule("an absolute path", (value) => value.startsWith("/"));

const STANDARD_FINALIZERS = ["foregroundDeletion", "kubernetes", "orphan"];
export const finalizerName = rule(
  `a name with a DNS prefix and "/", or one of ${STANDARD_FINALIZERS.join(", ")}`,
  (value) => isQualifiedName(value) && (value.includes("/") || STANDARD_FINALIZERS.includes(value)),
);

const SEARCH_LABEL = "[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?";
const SEARCH = new RegExp(`^${SEARCH_LABEL}(\\.${SEARCH_LABEL})*$`);
/** A search domain of a resolver: it may end with a dot, and have underscores. */
export const searchDomain = rule("a DNS name, with underscores and a dot at its end if need be", (value) => {
  const name = value.endsWith(".") ? value.slice(0, -1) : value;
  return value === "." || (name.length <= 253 && SEARCH.test(name));
});

/** Name of an iSCSI target or initiator. */
export const iscsiName = rule("a name such as iqn.2001-04.com.example:disk, or one of eui or naa", (value) => {
  if (value.startsWith("iqn")) return /iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+$/.test(value);
  if (value.startsWith("eui")) return /^eui.[A-Za-z0-9]{16}$/.test(value);
  return /^naa.[A-Za-z0-9]{32}$/.test(value);
});

export const driverName = rule(
  "a DNS name of at most 63 characters, in any case",
  (value) => value.length <= 63 && SUBDOMAIN.test(value.toLowerCase()),
);

export const configKey = rule(
  'letters, digits, "-", "_" and ".", at most 253, and not "." or ".."',
  (value) => /^[-._a-zA-Z0-9]{1,253}$/.test(value) && value !== "." && !value.startsWith(".."),
);
