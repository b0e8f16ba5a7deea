// Error codes of HTTP/2 (RFC 9113, section 7) as a person reads them.
const NAMES = [
  ...["NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED"],
  ...["FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM"],
  ...["INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED"],
];

export const http2ErrorName = (code: number): string => NAMES[code] ?? `unknown error code 0x${code.toString(16)}`;
