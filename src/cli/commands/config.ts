// nodelet config: the effective configuration with the origin of each value; --diff shows what is not the default.
import { configLines, type Configz } from "../config-lines.js";
import type { Context } from "../context.js";
import { EXIT, type ExitCode } from "../errors.js";
import { print } from "../output/print.js";
import { table } from "../output/table.js";

export async function configCommand(context: Context, { diff = false }: { diff?: boolean }): Promise<ExitCode> {
  const { kubeletconfig, origins } = await context.client.json<Configz>("/configz?origin=1");
  const lines = configLines(kubeletconfig, origins).filter(({ origin }) => !diff || origin !== "default");
  await print(context, diff ? lines : kubeletconfig, () =>
    lines.length === 0
      ? "every value is the default\n"
      : table(
          [
            { title: "FIELD", text: ({ field }) => field },
            { title: "ORIGIN", text: ({ origin }) => origin },
            { title: "VALUE", text: ({ value }) => JSON.stringify(value) },
          ],
          lines,
          context.columns,
        ),
  );
  return EXIT.fine;
}
