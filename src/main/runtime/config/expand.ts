// $(NAME) references in environment values, commands and arguments.

/**
 * Expands references in one pass. "$(NAME)" becomes the value, or stays as written when `lookup` knows no such name; "$$"
 * becomes "$" and takes no part in a reference, so "$$(NAME)" gives "$(NAME)"; every other "$" stays. Values are not
 * expanded again.
 */
export function expand(input: string, lookup: (name: string) => string | undefined): string {
  // An opened reference without its closing bracket is plain text; a name runs to the first ")".
  return input.replace(/\$\$|\$\(([^)]*)\)/g, (whole, name: string | undefined) =>
    name === undefined ? "$" : (lookup(name) ?? whole),
  );
}

/** As `expand`, and lists the names that could not be resolved: for places where leaving them as written is an error. */
export function expandStrict(
  input: string,
  lookup: (name: string) => string | undefined,
): { text: string; missing: string[] } {
  const missing: string[] = [];
  const text = expand(input, (name) => {
    const value = lookup(name);
    if (value === undefined) missing.push(name);
    return value;
  });
  return { text, missing };
}
