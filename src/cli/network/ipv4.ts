// IPv4 networks as numbers: whether two of them overlap. Pure.

export interface Network {
  /** First address, 0 to 2^32 - 1. */
  first: number;
  /** Length of the prefix, 0 to 32. */
  length: number;
}

/** "10.1.2.3/24" or an address alone; the host part is cut off. undefined: no IPv4 network. */
export function readNetwork(text: string): Network | undefined {
  const [, address = "", prefix = "32"] = /^((?:\d{1,3}\.){3}\d{1,3})(?:\/(\d{1,2}))?$/.exec(text.trim()) ?? [];
  const bytes = address.split(".").map(Number);
  const length = Number(prefix);
  if (bytes.length !== 4 || bytes.some((byte) => byte > 255) || length > 32) return undefined;
  const number = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  return { first: number - (number % size(length)), length };
}

export function networkText({ first, length }: Network): string {
  const bytes = [24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256);
  return `${bytes.join(".")}/${length}`;
}

export function overlaps(one: Network, other: Network): boolean {
  return one.first < other.first + size(other.length) && other.first < one.first + size(one.length);
}

function size(length: number): number {
  return 2 ** (32 - length);
}
