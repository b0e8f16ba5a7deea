// Does the node's resolver file fit into what pods can have of it? Pure.

import { quote } from "../../../shared/base/text/quote.js";
import type { ResolvConf } from "./resolv-conf.js";

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
    return `Resolv.conf file ${quote(file)} contains a search path which length is more than allowed ${MAX_SEARCH_DOMAIN} chars!`;
  }
  if (searches.join(" ").length > MAX_SEARCH_CHARACTERS) {
    return `Resolv.conf file '${file}' contains search line which length is more than allowed ${MAX_SEARCH_CHARACTERS} chars!`;
  }
  return undefined;
}
