// The reason why a plugin is not registered. The message goes to the plugin and to the log.

import { quoteStart } from "../../shared/base/text/quote.js";
import { dnsSubdomain } from "../../shared/kubernetes/api/manifest/formats.js";

/** Longest text of a plugin that an error repeats. */
const LONGEST_QUOTE = 200;
const LONGEST_NAME = 63;

/** The plugin reported data about itself that is invalid. */
export class PluginRefusedError extends Error {
  override readonly name = "PluginRefusedError";
}

/** Names of drivers are DNS names in the API, too; they become parts of paths and labels. @throws PluginRefusedError */
export function requireDriverName(kind: "CSI" | "DRA", name: string): void {
  if (name.length <= LONGEST_NAME && dnsSubdomain(name.toLowerCase()) === undefined) return;
  throw new PluginRefusedError(
    `the name ${quoteStart(name, LONGEST_QUOTE)} of a ${kind} driver is invalid: give a DNS name of at most ${LONGEST_NAME} characters`,
  );
}
