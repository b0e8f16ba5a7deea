// Filters of CRI's lists. Pure.

/** An id may be given by its beginning. */
export function matchesId(id: string, wanted: string): boolean {
  return wanted === "" || id.startsWith(wanted);
}

/** An absent filter matches all. */
export function matchesState<State>(state: State, wanted: { state: State } | undefined): boolean {
  return wanted === undefined || wanted.state === state;
}
