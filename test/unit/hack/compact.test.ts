import { expect } from 'chai';
// @ts-expect-error: a script without types
import { compacted as untyped } from '../../../hack/compact.mjs';

const compacted = untyped as (text: string) => string;

describe('compiled files', () => {
  for (const [what, before, after] of [
    ['above code', '// one\n/** two\n * lines */\nlet a;\n', '\n\n\nlet a;\n'],
    ['behind code', 'let a; // one\nlet b; /* two */\n', 'let a;\nlet b;\n'],
    ['between arguments', 'f(\n  // one\n  a, // two\n  b,\n);\n', 'f(\n\n  a,\n  b,\n);\n'],
    ['in an empty block', 'try { a(); } catch {\n  // nothing\n}\n', 'try { a(); } catch {\n\n}\n'],
    ['at the end', 'let a;\n// end', 'let a;\n'],
    ['in a placeholder', 'x = `${a // one\n}`;\n', 'x = `${a\n}`;\n'],
  ] as const)
    it(`have no comments ${what}, and lines keep their numbers`, () => {
      expect(compacted(before)).to.equal(after);
    });

  for (const [what, text] of [
    ['comments in strings', `a = '// one'; b = "/* two */";\n`],
    ['comments in templates', 'a = `\n// one  \n/* ${b} */\n`;\n'],
    ['comments in regular expressions', 'a = /[/*]*\\/\\//; b = c / d / e;\n'],
    ['the first line of a program', '#!/usr/bin/env node\nlet a;\n'],
    ['a comment before code', 'f(/* one */ a);\n'],
  ] as const)
    it(`keep ${what}`, () => {
      expect(compacted(text)).to.equal(text);
    });

  it('are indented with tabs, except for the lines of templates', () => {
    const before = 'if (a) {\n    b(`\n    c ${d(\n        e)}\n    f`);\n        g\n          .h();\n}\n';
    const after = 'if (a) {\n\tb(`\n    c ${d(\n\t\te)}\n    f`);\n\t\tg\n\t\t  .h();\n}\n';
    expect(compacted(before)).to.equal(after);
  });
});
