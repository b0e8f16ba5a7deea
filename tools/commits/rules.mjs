// The rules of a commit's subject, as CONTRIBUTING.md has them: "area: imperative subject", at most 72 characters, no
// merge commit.

const LONGEST = 72;
/** One area or several: "sync: …", "workers/server: …", "status, sync: …". */
const FORM = /^(?<areas>[a-z0-9][a-z0-9./_-]*(?:, [a-z0-9][a-z0-9./_-]*)*): (?<what>\S.*)$/;
/** Beginnings of subjects that are meant to disappear before a branch is merged. */
const UNFINISHED = /^(?:fixup|squash|amend)!|\bwip\b/i;
/**
 * Verbs in a form that is not the imperative. Only words that begin no honest sentence: "removed pods keep …" is a
 * statement, so "removed" is not here.
 */
const NOT_IMPERATIVE = new Set(
  ["add", "implement", "introduc", "improv", "refactor", "updat", "fix", "renam"].flatMap((stem) => [
    `${stem}ed`,
    `${stem}ing`,
  ]),
);
for (const verb of ["adds", "removes", "implements", "introduces", "improves", "refactors", "ensures", "renames"]) {
  NOT_IMPERATIVE.add(verb);
}

/**
 * The faults of a commit; [] for a good one.
 *
 * @param {{ subject: string, parents: number }} commit
 * @returns {string[]}
 */
export function faultsOf({ subject, parents }) {
  if (parents > 1) return ["is a merge commit: rebase the branch"];
  const faults = [];
  const { length } = [...subject];
  if (length > LONGEST) faults.push(`has ${length} characters, ${LONGEST} are allowed`);
  if (UNFINISHED.test(subject)) faults.push("is marked as unfinished");
  if (subject.endsWith(".")) faults.push("ends with a full stop");
  const { what } = FORM.exec(subject)?.groups ?? {};
  if (what === undefined) faults.push('does not have the form "area: what", with an area in lower case');
  const [first = ""] = (what ?? "").toLowerCase().split(" ");
  if (NOT_IMPERATIVE.has(first)) faults.push(`begins with "${first}": use the imperative`);
  return faults;
}
