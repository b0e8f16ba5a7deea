// The words of a YAML text, between scanner and parser.

export type TokenType =
  | "stream end"
  | "version directive"
  | "tag directive"
  | "document start"
  | "document end"
  | "block list start"
  | "block map start"
  | "block end"
  | "flow list start"
  | "flow list end"
  | "flow map start"
  | "flow map end"
  | "entry"
  | "flow entry"
  | "key"
  | "value"
  | "alias"
  | "anchor"
  | "tag"
  | "scalar";

export interface Token {
  type: TokenType;
  /** Index of the first character, and of the first one after it. */
  start: number;
  end: number;
  /** Name of an anchor or alias, text of a scalar, handle of a tag, version of a directive; otherwise "". */
  value: string;
  /** Rest of a tag after its handle, or the prefix of a %TAG directive; otherwise "". */
  suffix: string;
  /** A scalar without quotes and block indicators. */
  plain: boolean;
}

export function token(type: TokenType, start: number, end: number, value = "", suffix = "", plain = false): Token {
  return { type, start, end, value, suffix, plain };
}
