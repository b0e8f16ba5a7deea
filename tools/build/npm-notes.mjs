// What npm is at while it installs, read from its log (--loglevel=http).

/**
 * Reads npm's log: counts the packages and keeps the last one. Lines that say no more are not shown after a failure.
 */
export function npmNotes() {
  let count = 0;
  return (line) => {
    const [, from] = /^npm http (?:fetch GET 200|cache) (\S+)/.exec(line) ?? [];
    if (from === undefined) return { note: undefined, noise: line.startsWith("npm http ") };
    const [, name] = /^(?:https?:\/\/[^/]+\/)?((?:@[^/@]+\/)?[^/@]+)/.exec(decodeURIComponent(from)) ?? [];
    // npm first asks for a package's description, then for its tarball.
    if (from.endsWith(".tgz")) count++;
    return { note: `${count} fetched, last ${name ?? from}`, noise: true };
  };
}
