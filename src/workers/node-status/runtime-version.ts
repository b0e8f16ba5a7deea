// The runtime's version as the Node object has it: a semantic version without the leading v, of others the numbers.

/**
 * "v1.7.13-rc.1" is "1.7.13-rc.1"; Debian's "1.6.20~ds1" is "1.6.20". What begins with no number stays as it is.
 */
export function runtimeVersion(text: string): string {
  const [begin = "", numbers] = /^\s*v?(\d+(?:\.\d+)*)/.exec(text) ?? [];
  const rest = text.slice(begin.length);
  if (numbers === undefined || rest.includes("\n")) return text;
  const semantic = numbers.split(".").length === 3 && /^(-[\w.-]+)?(\+[\w.-]+)?$/.test(rest);
  return semantic ? numbers + rest : numbers;
}
