// Comments end at column 120, as code does; oxfmt wraps only code.

const WIDTH = 120;
/** Texts without a place to break: addresses, and directives that must stand on one line. */
const UNBREAKABLE = /https?:\/\/\S{40}|eslint-disable|oxlint-disable|@ts-|\S{100}/;

export const commentWidth = {
  meta: {
    type: "layout",
    schema: [],
    messages: { long: "the comment ends at column {{end}}: wrap it at {{width}}" },
  },
  create(context) {
    const { sourceCode } = context;
    return {
      Program() {
        for (const comment of sourceCode.getAllComments()) {
          for (let line = comment.loc.start.line; line <= comment.loc.end.line; line++) {
            const text = sourceCode.lines[line - 1];
            // A comment behind code is the formatter's affair: it moves neither.
            if (text.length <= WIDTH || UNBREAKABLE.test(text) || !/^\s*(\/\/|\/?\*)/.test(text)) continue;
            const loc = { start: { line, column: WIDTH }, end: { line, column: text.length } };
            context.report({ loc, messageId: "long", data: { end: text.length, width: WIDTH } });
          }
        }
      },
    };
  },
};
