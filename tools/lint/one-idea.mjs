// One file, one idea: a header comment that stands by itself further down starts a second file (CONTRIBUTING.md).

export const oneIdea = {
  meta: {
    type: "suggestion",
    schema: [],
    messages: {
      header:
        "a second header in this file: move what follows to a file of its own, or make it the docstring of the next symbol",
    },
  },
  create(context) {
    const { sourceCode } = context;
    const blank = (line) => (sourceCode.lines[line - 1] ?? "").trim() === "";
    return {
      Program(program) {
        const first = program.body.find(({ type }) => type !== "ImportDeclaration");
        if (first === undefined) return;
        const comments = sourceCode
          .getAllComments()
          .filter(({ type, loc }) => type === "Line" && loc.start.column === 0);
        const at = new Map(comments.map((comment) => [comment.loc.start.line, comment]));
        for (const comment of comments) {
          const { line } = comment.loc.start;
          if (line < first.loc.start.line || !blank(line - 1) || at.has(line - 1)) continue;
          let end = line;
          while (at.has(end + 1)) end++;
          // A comment inside a template or an object is not a header.
          const inside = program.body.some(({ loc }) => loc.start.line < line && loc.end.line > end);
          if (blank(end + 1) && !inside) context.report({ loc: comment.loc, messageId: "header" });
        }
      },
    };
  },
};
