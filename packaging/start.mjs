// `npm start`: makes a fresh clone runnable (bootstrap.mjs), then hands over to the compiled program.
import { fail, prepare } from "./bootstrap.mjs";

if (!process.argv.slice(2).some((argument) => argument === "--help" || argument === "-h")) await prepare();
else await prepare({ environment: false });
try {
  const { main } = await import("../dist/packaging/standalone/start.js");
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  fail(error);
}
