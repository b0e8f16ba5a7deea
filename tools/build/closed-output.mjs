// `npm run docs | head`: the reader has enough and closes the pipe. The command goes on to its end without output: what
// it writes is complete, and what it has started is removed again.

/** From now on output to a closed pipe is dropped. Any other error of an output ends the process, as before. */
export function outliveReaders() {
  for (const output of [process.stdout, process.stderr]) {
    output.on("error", (error) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
}
