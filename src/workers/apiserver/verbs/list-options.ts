// The options of lists and watches: which of them exclude each other, and which values they have.

import { quote } from "../../../shared/base/text/quote.js";
import { queryFlag } from "../../../shared/kubernetes/api/query-flag.js";
import { ApiError, badRequest, FieldError, invalid } from "../objects/errors.js";

const MATCH = "resourceVersionMatch";

/** @throws ApiError */
export function checkListOptions(query: URLSearchParams): void {
  const [match, version] = [query.get(MATCH) ?? "", query.get("resourceVersion") ?? ""];
  const hasToken = (query.get("continue") ?? "") !== "";
  checkNumber(query, "limit");
  checkNumber(query, "timeoutSeconds");
  if (query.has("sendInitialEvents")) {
    throw refused(FieldError.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  if (match !== "") {
    const forbidden = (why: string): ApiError => refused(FieldError.forbidden(MATCH, `${MATCH} ${why}`));
    if (hasToken) throw forbidden("is forbidden when continue is provided");
    if (version === "") throw forbidden("is forbidden unless resourceVersion is provided");
    if (match !== "Exact" && match !== "NotOlderThan") {
      throw refused(FieldError.unsupported(MATCH, match, ["Exact", "NotOlderThan", ""]));
    }
    if (match === "Exact" && version === "0") throw forbidden('"exact" is forbidden for resourceVersion "0"');
  }
  if (hasToken && version !== "" && version !== "0") {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
}

/** Must the list be of exactly its version? */
export function isExactList(query: URLSearchParams): boolean {
  const match = query.get(MATCH) ?? "";
  return match === "Exact" || (match === "" && Number(query.get("limit") ?? 0) > 0);
}

export interface WatchOptions {
  /** 0: any. */
  version: number;
  /** Absent: as the version says. */
  sendsInitial: boolean | undefined;
  bookmarks: boolean;
  /** 0: the server's own. */
  timeoutMs: number;
}

/** @throws ApiError */
export function watchOptions(query: URLSearchParams): WatchOptions {
  const initial = query.get("sendInitialEvents");
  const match = query.get(MATCH) ?? "";
  if (initial !== null && match !== "NotOlderThan") {
    const text = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
    const unsupported = match === "" ? [] : [FieldError.unsupported(MATCH, match, ["NotOlderThan"])];
    throw refused(FieldError.forbidden(MATCH, text), ...unsupported);
  }
  if (initial === null && match !== "") {
    const text = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
    throw refused(FieldError.forbidden(MATCH, text));
  }
  checkNumber(query, "timeoutSeconds");
  const text = query.get("resourceVersion") ?? "";
  const version = text === "" ? 0 : parseVersion(text);
  if (version === undefined) throw new ApiError(500, "", versionError(text));
  return {
    version,
    sendsInitial: initial === null ? undefined : queryFlag(query, "sendInitialEvents"),
    bookmarks: queryFlag(query, "allowWatchBookmarks"),
    timeoutMs: Math.max(Number(query.get("timeoutSeconds") ?? 0), 0) * 1000,
  };
}

/** Undefined if the text is not a version. */
export function parseVersion(text: string): number | undefined {
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

export function versionError(text: string): string {
  return `resourceVersion: Invalid value: ${quote(text)}: strconv.ParseUint: parsing ${quote(text)}: invalid syntax`;
}

function checkNumber(query: URLSearchParams, option: string): void {
  const text = query.get(option) ?? "";
  if (!/^([-+]?\d+)?$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${quote(text)}: invalid syntax`);
}

function refused(...errors: FieldError[]): ApiError {
  return invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", errors);
}
