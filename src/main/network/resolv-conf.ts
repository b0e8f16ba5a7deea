// Parses the node's resolver file. The caller reads the file.

interface ResolvConf {
  servers: string[];
  searches: string[];
  /** "name" or "name:value". */
  options: string[];
}

/**
 * Parses resolv.conf(5) as far as pods inherit it. Name servers add up, and the last search line replaces earlier ones. Options add up, and
 * a later option replaces an earlier one of the same name. Unknown lines are skipped.
 */
export function parseResolvConf(text: string): ResolvConf {
  const servers: string[] = [];
  let searches: string[] = [];
  let options: string[] = [];
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [keyword, ...values] = line.trim().split(/\s+/);
    switch (keyword) {
      case "nameserver":
        servers.push(...values.slice(0, 1));
        break;
      case "search":
        searches = values.filter((domain) => domain !== ".").map((domain) => domain.replace(/\.$/, ""));
        break;
      case "options":
        options = mergeOptions(options, values);
        break;
      default:
        break;
    }
  }
  return { servers, searches, options };
}

/** Resolver options of both lists; of two with one name the later value stays, at the earlier place. */
export function mergeOptions(first: readonly string[], later: readonly string[]): string[] {
  const byName = new Map<string, string>();
  for (const option of [...first, ...later]) byName.set(option.split(":", 1)[0] ?? option, option);
  return [...byName.values()];
}

// Does the node's resolver file fit into what pods can have of it? Pure.

/** glibc's. */
export const MAX_SEARCHES = 32;
export const MAX_SEARCH_CHARACTERS = 2048;
export const MAX_SEARCH_DOMAIN = 253;
/** Number of search domains that the cluster adds for a pod: <namespace>.svc.<domain>, svc.<domain>, <domain>. */
const CLUSTER_SEARCHES = 3;

/** Upstream's message of the event CheckLimitsForResolvConf; undefined: the file is within the limits. */
export function resolvConfProblem(file: string, { searches }: ResolvConf, clusterDomain: string): string | undefined {
  const limit = clusterDomain === "" ? MAX_SEARCHES : MAX_SEARCHES - CLUSTER_SEARCHES;
  if (searches.length > limit) {
    return `Resolv.conf file '${file}' contains search line consisting of more than ${limit} domains!`;
  }
  if (searches.some((domain) => domain.length > MAX_SEARCH_DOMAIN)) {
    return `Resolv.conf file "${file}" contains a search path which length is more than allowed ${MAX_SEARCH_DOMAIN} chars!`;
  }
  if (searches.join(" ").length > MAX_SEARCH_CHARACTERS) {
    return `Resolv.conf file '${file}' contains search line which length is more than allowed ${MAX_SEARCH_CHARACTERS} chars!`;
  }
  return undefined;
}
