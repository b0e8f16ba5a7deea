// Options of exec, attach and portForward, read from the query as in upstream.

/** The query makes no sense: 400 with this text. */
export class StreamOptionsError extends Error {
  override readonly name = "StreamOptionsError";
}

export interface StreamOptions {
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
  tty: boolean;
}

/** A terminal has one output: error is left out then. @throws StreamOptionsError */
export function streamOptions(query: URLSearchParams): StreamOptions {
  const on = (name: string): boolean => query.get(name) === "1";
  const tty = on("tty");
  const options = { stdin: on("input"), stdout: on("output"), stderr: on("error") && !tty, tty };
  if (!options.stdin && !options.stdout && !options.stderr) {
    throw new StreamOptionsError("you must specify at least 1 of stdin, stdout, stderr");
  }
  return options;
}

/** Ports are named by WebSocket clients only; others name them stream by stream. @throws StreamOptionsError */
export function forwardedPorts(query: URLSearchParams, isWebSocket: boolean): number[] {
  if (!isWebSocket) return [];
  const given = query.getAll("port");
  if (given.length === 0) throw new StreamOptionsError('query parameter "port" is required');
  return given.flatMap((list) => {
    if (list === "") throw new StreamOptionsError('query parameter "port" cannot be empty');
    return list.split(",").map((text) => port(text, list));
  });
}

function port(text: string, list: string): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (Number.isNaN(number) || number > 65535) {
    throw new StreamOptionsError(`unable to parse ${JSON.stringify(list)} as a port`);
  }
  if (number < 1) throw new StreamOptionsError(`port ${JSON.stringify(list)} must be > 0`);
  return number;
}
