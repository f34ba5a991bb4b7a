import { expect } from 'chai';
import { documentAround, fieldAt } from '../../../../src/cli/language-server/position.ts';

/** The cursor is at the end of the line with `|`. */
const at = (text: string) => {
  const lines = text.split('\n');
  const line = lines.findIndex((one) => one.includes('|'));
  lines[line] = (lines[line] ?? '').replace('|', '');
  const { parent, name, value } = fieldAt(lines, line);
  return [[...parent, name].join('.'), value];
};

describe('the field at a position', () => {
  for (const [what, text, expected] of [
    ['at the top', 'a: 1\nkin|', ['kin', undefined]],
    ['with a value', 'kind: Blue|', ['kind', 'Blue']],
    ['without a value', 'kind: |', ['kind', '']],
    ['in a map', 'spec:\n  imports:\n    da|', ['spec.imports.da', undefined]],
    ['behind a shorter map', 'spec:\n  a:\n    b: 1\n  c|', ['spec.c', undefined]],
    ['in a list', 'imports:\n  - name: a\n    sch|', ['imports.[].sch', undefined]],
    ['at the beginning of an element', 'imports:\n  - na|', ['imports.[].na', undefined]],
    ['in a list at the column of its field', 'imports:\n- name: a\n  sch|', ['imports.[].sch', undefined]],
    ['behind such a list', 'imports:\n- name: a\nexp|', ['exp', undefined]],
    [
      'in another element of a list',
      'imports:\n  - name: a\n    b: 1\n  - na|',
      ['imports.[].na', undefined],
    ],
    ['in a list of lists', 'a:\n  - - b|', ['a.[].b', undefined]],
    ['in an empty line', 'spec:\n  |', ['spec.', undefined]],
    ['below comments and empty lines', 'spec:\n\n# x: y\n  a|', ['spec.a', undefined]],
    ['in another document', 'a:\n  b: 1\n---\nc:\n  d|', ['c.d', undefined]],
    ['with quotes', '"a/b":\n  "c|"', ['a/b.c', undefined]],
  ] as const)
    it(`is found ${what}`, () => {
      expect(at(text)).to.deep.equal(expected);
    });

  it('belongs to the document around it', () => {
    const lines = ['a: 1', '---', 'b: 2', 'c: 3', '---', 'd: 4'];
    expect(documentAround(lines, 0)).to.deep.equal(['a: 1']);
    expect(documentAround(lines, 3)).to.deep.equal(['b: 2', 'c: 3']);
    expect(documentAround(lines, 5)).to.deep.equal(['d: 4']);
  });
});
