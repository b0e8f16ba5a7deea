// The error for the command line and the config file: all problems in one report.

import { OperatorError } from "../../shared/base/errors/operator-error.js";
export class SettingsError extends OperatorError {
  override readonly name = "SettingsError";

  /** One line per problem: its place, the problem, and the accepted values. */
  constructor(readonly problems: readonly string[]) {
    super(problems.join("\n"));
  }
}
