// A program of a checkout may be started without npm: `node dist/bench/main.js --help`. It answers help and wrong words
// as `npm run` does before the build, from the same table.

const PROGRAMS = new URL("../../../tools/usage/programs.mjs", import.meta.url).href;
const BOOTSTRAP = new URL("../../../tools/build/bootstrap.mjs", import.meta.url).href;

/**
 * The words of this process as tools/usage reads them for `program`, its path in the checkout. Ends the process after
 * an answer: help, a list, or one line about a word that the program does not take.
 */
export async function programWords<Words = unknown>(program: string): Promise<Words> {
  const { checkProgram } = (await import(PROGRAMS)) as {
    checkProgram: (program: string, args: readonly string[]) => Words;
  };
  try {
    return checkProgram(program, process.argv.slice(2));
  } catch (error) {
    const { fail } = (await import(BOOTSTRAP)) as { fail: (error: unknown) => never };
    return fail(error);
  }
}
