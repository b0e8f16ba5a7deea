// The versions of Node.js that the kubelet supports, as in `engines` of package.json. Older ones have known remote
// faults of HTTP/2 and of hashing (https://nodejs.org/en/blog/vulnerability/march-2026-security-releases), and Node.js
// 20 gets no corrections any more.

/** The first fit release of each line; a line above the last is fit as a whole. */
const FIRST_FIT: readonly (readonly [major: number, minor: number, patch: number])[] = [
  [22, 22, 2],
  [24, 14, 1],
];

/** Why this version ("v24.21.0") is not supported, or undefined. */
export function nodeVersionProblem(version: string): string | undefined {
  const [major = 0, minor = 0, patch = 0] = version
    .replace(/^v/, "")
    .split(".")
    .map((part) => parseInt(part, 10));
  const first = FIRST_FIT.find(([line]) => line === major);
  const isFit =
    first === undefined
      ? major > Math.max(...FIRST_FIT.map(([line]) => line))
      : minor > first[1] || (minor === first[1] && patch >= first[2]);
  return isFit
    ? undefined
    : "this release of Node.js has known remote faults of HTTP/2 and of hashing, or gets no corrections";
}

/** For messages: what to install. */
export const FIT_NODE = "Node.js 24.14.1 or newer, or 22.22.2 or newer of the line 22";
