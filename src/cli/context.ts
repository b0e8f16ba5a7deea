// The context of every command: connection, output format, terminal.

import { systemClock, type Clock } from "../shared/base/clock/clock.js";
import { adminSocketOf, DEFAULT_ROOT_DIR } from "../shared/contracts/nodelet.js";
import { Client } from "./client.js";
import { CliError, EXIT } from "./errors.js";
import { painter, type Paint } from "./output/colour.js";
import { FORMATS, type Format } from "./output/formats.js";
import { writeOut } from "./output/terminal.js";

/** For a terminal that does not know its size, as those of some container tools. */
const USUAL_COLUMNS = 80;

/** The options of the program, as commander reads them. */
export interface GlobalOptions {
  socket?: string;
  rootDir?: string;
  output?: string;
  color?: boolean;
}

export interface Context {
  client: Client;
  format: Format;
  paint: Paint;
  /** Characters per line; Infinity where the output is no terminal. */
  columns: number;
  clock: Clock;
  write: (text: string) => void;
}

export function contextOf(options: GlobalOptions, env: NodeJS.ProcessEnv = process.env): Context {
  const { output = "table" } = options;
  const format = FORMATS.find((name) => name === output);
  if (format === undefined) {
    throw new CliError(EXIT.usage, `-o ${JSON.stringify(output)} is not one of ${FORMATS.join(", ")}`);
  }
  const terminal = process.stdout.isTTY;
  const colour = options.color ?? (terminal && env["NO_COLOR"] === undefined && env["TERM"] !== "dumb");
  return {
    client: new Client(options.socket ?? env["NODELET_SOCKET"] ?? adminSocketOf(options.rootDir ?? DEFAULT_ROOT_DIR)),
    format,
    paint: painter(colour),
    columns: terminal && format !== "wide" ? process.stdout.columns || USUAL_COLUMNS : Infinity,
    clock: systemClock,
    write: (text) => writeOut(text, colour),
  };
}
