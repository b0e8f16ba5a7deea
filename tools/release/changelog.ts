// CHANGELOG.md as packages and release notes need it: one list of versions, each with its groups of points.

import { SetupProblem } from "../standalone/problem.js";
import { MAINTAINER } from "./build.js";
import { wrap } from "./wrap.js";

export interface Release {
  /** undefined: the changes since the last release. */
  version: string | undefined;
  /** Seconds since 1970, of the day's first second; undefined for changes that are not released. */
  epoch: number | undefined;
  groups: { title: string; points: string[] }[];
  /** As written, without the heading. */
  text: string;
}

const WIDTH = 76;
const HEADING = /^## (?:Unreleased|(?<version>\d+(?:\.\d+)*) — (?<day>\d{4}-\d{2}-\d{2}))$/;

/** Newest first, as in the file. @throws for a heading of another form */
export function readChangelog(markdown: string): Release[] {
  return markdown
    .split(/^(?=## )/m)
    .filter((part) => part.startsWith("## "))
    .map((part) => {
      const [heading = "", ...lines] = part.trimEnd().split("\n");
      const found = HEADING.exec(heading);
      if (found === null)
        throw new SetupProblem(`CHANGELOG.md: "${heading}" is neither "Unreleased" nor "1.2.3 — 2026-01-31"`);
      const { version, day } = found.groups ?? {};
      const epoch = day === undefined ? undefined : Date.parse(`${day}T00:00:00Z`) / 1000;
      return { version, epoch, groups: groupsOf(lines), text: lines.join("\n").trim() };
    });
}

/** The changes of a version, for its release notes. @throws if it has none */
export function notesOf(markdown: string, version: string): string {
  const found = readChangelog(markdown).find((release) => release.version === version);
  if (found === undefined || found.text === "") {
    throw new SetupProblem(`CHANGELOG.md has no section "## ${version} — <day>"`);
  }
  return `${found.text}\n`;
}

export interface BuildOf {
  version: string;
  /** Seconds since 1970. */
  epoch: number;
}

/** Debian's changelog. What is not released yet belongs to the package's own version. */
export function debianChangelog(markdown: string, { version, epoch }: BuildOf): string {
  return releasesUpTo(markdown, { version, epoch })
    .map(({ groups, ...release }) => {
      const many = groups.length > 1;
      const points = groups.flatMap((group) => [
        ...(many && group.title !== "" ? ["", `  [ ${group.title} ]`] : []),
        ...group.points.flatMap((point) => wrap(point, { width: WIDTH, first: "  * ", next: "    " })),
      ]);
      const head = `nodelet (${release.version}) stable; urgency=medium`;
      return `${head}\n\n${points.join("\n").trimStart().replace(/^/, "  ")}\n\n -- ${MAINTAINER}  ${mailDate(release.epoch)}\n`;
    })
    .join("\n");
}

/** rpm's %changelog: one line a version, because it is part of every query. */
export function rpmChangelog(markdown: string, build: BuildOf): string {
  return releasesUpTo(markdown, build)
    .map(({ version, epoch, groups }) => {
      const [day, date, month, year] = mailDate(epoch).replace(",", "").split(" ");
      const titles = groups.map(({ title }) => title).filter((title) => title !== "");
      const about = titles.length === 0 ? "changes" : titles.join(", ");
      const points = wrap(`${about}: see /usr/share/doc/nodelet/changelog.gz`, {
        width: WIDTH,
        first: "- ",
        next: "  ",
      });
      return `* ${[day, month, date, year].join(" ")} ${MAINTAINER} - ${version}-1\n${points.join("\n").replaceAll("%", "%%")}\n`;
    })
    .join("\n");
}

function releasesUpTo(
  markdown: string,
  { version, epoch }: BuildOf,
): { version: string; epoch: number; groups: Release["groups"] }[] {
  const releases = readChangelog(markdown).flatMap((release) => {
    if (release.version !== undefined && release.epoch !== undefined)
      return [{ ...release, version: release.version, epoch: release.epoch }];
    return release.groups.length === 0 ? [] : [{ ...release, version, epoch }];
  });
  if (releases[0]?.version === version) return releases;
  return [{ version, epoch, groups: [{ title: "", points: ["Rebuild without changes for users."] }] }, ...releases];
}

function groupsOf(lines: readonly string[]): Release["groups"] {
  const groups: Release["groups"] = [];
  let points: string[] | undefined;
  for (const line of lines) {
    const title = /^### (.+)$/.exec(line)?.[1];
    const point = /^- (.+)$/.exec(line)?.[1];
    const more = /^ {2,}(\S.*)$/.exec(line)?.[1];
    if (title !== undefined) groups.push({ title, points: (points = []) });
    else if (point !== undefined) {
      if (points === undefined) groups.push({ title: "", points: (points = []) });
      points.push(plain(point));
    } else if (more !== undefined && points !== undefined && points.length > 0) {
      points.push(`${points.pop() ?? ""} ${plain(more)}`);
    }
  }
  return groups.filter((group) => group.points.length > 0);
}

/** Markdown's marks are of no use in a changelog that a terminal shows. */
function plain(text: string): string {
  return text.replaceAll("**", "").replaceAll(/\[([^[\]]+)\]\([^()]*\)/g, "$1");
}

/** "Sat, 28 Nov 2026 00:00:00 +0000" */
function mailDate(epoch: number): string {
  return new Date(epoch * 1000).toUTCString().replace("GMT", "+0000");
}
