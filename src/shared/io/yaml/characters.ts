// Character classes of YAML 1.1, by UTF-16 code. The code 0 stands for the end of the text: a text cannot contain it.

export const BYTE_ORDER_MARK = 0xfeff;

/** Space or tab. */
export function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** YAML 1.1 has five line breaks; U+2028 and U+2029 stay in the text as they are. */
export function isBreak(code: number): boolean {
  return code === 0x0a || code === 0x0d || code === 0x85 || code === 0x2028 || code === 0x2029;
}

export function isBreakOrEnd(code: number): boolean {
  return code === 0 || isBreak(code);
}

export function isBlankOrEnd(code: number): boolean {
  return code === 0x20 || code === 0x09 || isBreakOrEnd(code);
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Characters of anchors, handles and directives. */
export function isWordCharacter(code: number): boolean {
  return (
    isDigit(code) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x5f || // _
    code === 0x2d // -
  );
}

export function isHexDigit(code: number): boolean {
  return isDigit(code) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
}

/** The codes of indicators. */
export function codes(indicators: string): ReadonlySet<number> {
  return new Set(Array.from(indicators, (character) => character.charCodeAt(0)));
}
