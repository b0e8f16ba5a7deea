// The portmap plugin writes NAT rules into the namespace it runs in; with `npm start` that is the
// host's own. Rules of killed pods must not stay, and neither the plugin's chains if they came with us.
// Invariant: a rule is ours when its comment names our network; chains that were there before us are left.

import { isCommandFailed } from "./exec.js";
import { runInNetns } from "./netns.js";

const SHARED_CHAINS = ["CNI-HOSTPORT-DNAT", "CNI-HOSTPORT-MASQ", "CNI-HOSTPORT-SETMARK"];

/** The portmap plugin's chains in the NAT table of a namespace. */
export async function portmapChains(netns: string | undefined): Promise<string[]> {
  const rules = await natRules(netns);
  return SHARED_CHAINS.filter((chain) => rules.includes(`-N ${chain}`));
}

/** Removes the rules and chains of `network`, then the plugin's own chains unless they are in `keep` or still used. */
export async function removePortmapRules(
  netns: string | undefined,
  network: string,
  keep: readonly string[],
): Promise<void> {
  const { removals, shared } = planRemoval(await natRules(netns), network, keep);
  for (const args of removals) await iptables(netns, args);
  if (!shared) for (const args of planSharedRemoval(await natRules(netns), keep)) await iptables(netns, args);
}

/** iptables arguments that remove what belongs to `network`; `shared` tells whether others' mappings remain. */
export function planRemoval(
  rules: readonly string[],
  network: string,
  keep: readonly string[],
): { removals: string[][]; shared: boolean } {
  const mappings = rules.filter((rule) => rule.startsWith("-A CNI-HOSTPORT-DNAT "));
  const ours = mappings.filter((rule) => rule.includes(`name: \\"${network}\\"`));
  const removals = ours.map((rule) => ["-D", ...words(rule).slice(1)]);
  for (const chain of new Set(ours.map((rule) => / -j (CNI-DN-\S+)/.exec(rule)?.[1]))) {
    if (chain !== undefined) removals.push(["-F", chain], ["-X", chain]);
  }
  return { removals, shared: mappings.length > ours.length || SHARED_CHAINS.every((chain) => keep.includes(chain)) };
}

/** Unhooks and deletes the plugin's own chains. */
export function planSharedRemoval(rules: readonly string[], keep: readonly string[]): string[][] {
  const chains = SHARED_CHAINS.filter((chain) => rules.includes(`-N ${chain}`) && !keep.includes(chain));
  const jumps = rules.filter((rule) => rule.startsWith("-A ") && chains.some((chain) => rule.includes(` -j ${chain}`)));
  return [
    ...jumps.map((rule) => ["-D", ...words(rule).slice(1)]),
    ...chains.map((chain) => ["-F", chain]),
    ...chains.map((chain) => ["-X", chain]),
  ];
}

/** Splits a rule as iptables prints it: blanks between words, double quotes around comments, `\"` inside. */
export function words(rule: string): string[] {
  return [...rule.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(
    ([, quoted, bare]) => quoted?.replace(/\\(.)/g, "$1") ?? bare ?? "",
  );
}

async function natRules(netns: string | undefined): Promise<string[]> {
  try {
    return (await runInNetns(netns, "iptables", ["--wait", "10", "-t", "nat", "-S"])).split("\n");
  } catch (error) {
    // No NAT table in this kernel: then portmap wrote nothing either.
    if (isCommandFailed(error)) return [];
    throw error;
  }
}

async function iptables(netns: string | undefined, args: readonly string[]): Promise<void> {
  await runInNetns(netns, "iptables", ["--wait", "10", "-t", "nat", ...args]);
}
