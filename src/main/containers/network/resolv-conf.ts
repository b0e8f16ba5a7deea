// Parses the node's resolver file. The caller reads the file.

export interface ResolvConf {
  servers: string[];
  searches: string[];
  /** "name" or "name:value". */
  options: string[];
}

/**
 * Parses resolv.conf(5) as far as pods inherit it. Name servers add up, and the last search line replaces earlier ones.
 * Options add up, and a later option replaces an earlier one of the same name. Unknown lines are skipped.
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
