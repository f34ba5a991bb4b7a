/** Reads files with landscape tests: each mistake has its position, and says what is meant. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readSuite } from '../../../../src/cli/landscape-tests/file/read.ts';

describe('a file with landscape tests', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-read-'));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  const mistakesIn = (text: string): readonly string[] => {
    const file = join(folder, 'a.test.yaml');
    writeFileSync(file, text);
    return readSuite(file).findings.map(
      ({ place, message }) => `${String(place.line)}:${String(place.column)} ${message}`,
    );
  };
  /** A file with one case, whose fields begin in line 3. */
  const oneCase = (...lines: readonly string[]): string =>
    ['cases:', '  - name: a', ...lines.map((line) => `    ${line}`), ''].join('\n');

  it('has cases', () => {
    expect(mistakesIn(oneCase('then: { tree: { shop: Succeeded } }'))).to.deep.equal([]);
  });

  const rows: readonly (readonly [what: string, text: string, mistake: string])[] = [
    ['is not empty', '', '1:1 the file has no cases; write the field cases, a list'],
    ['has at least one case', 'cases: []\n', '1:8 there is no case; write a list with at least one'],
    ['is YAML', 'cases: [\n', '2:1 this is not valid YAML: did not find expected node content'],
    [
      'has one document',
      'cases: []\n---\ncases: []\n',
      '3:1 the file has a second document; write all cases into the first one',
    ],
    ['has known fields', oneCase('than: {}'), '3:5 unknown field "than"; did you mean then?'],
    ['has each field once', oneCase('then: {}', 'then: {}'), '4:5 the field "then" exists twice'],
    [
      'has values of the right type',
      oneCase('when: yes'),
      '3:11 cases[0].when: expected a list, found a boolean',
    ],
    ['expects something', oneCase(), '2:5 the case "a" checks nothing; write the field then'],
    [
      'has names that differ',
      `${oneCase('then: {}')}  - { name: a, then: {} }\n`,
      '4:13 two cases have the name "a"; rename one of them',
    ],
    [
      'knows the phases',
      oneCase('then: { tree: { shop: Suceeded } }'),
      '3:27 "Suceeded" is not a phase; did you mean Succeeded?',
    ],
    [
      'knows what can happen',
      oneCase('then: { order: [shop endet] }'),
      '3:21 "endet" is not an event; did you mean ended?',
    ],
    [
      'has complete entries in its order',
      oneCase('then: { order: [shop] }'),
      '3:21 "shop" is not an entry of order; use a value like "shop/database ended"',
    ],
    [
      'has durations with units',
      oneCase('when: [{ wait: 5 minutes }]', 'then: {}'),
      '3:20 "5 minutes" is not a duration; use a value like 90s or 10m',
    ],
    [
      'does one thing in each step',
      oneCase('when: [{ reconcile: a, delete: a }]', 'then: {}'),
      '3:12 the step has reconcile and delete; write a step for each',
    ],
    [
      'does something in each step',
      oneCase('when: [{ for: 5s }]', 'then: {}'),
      '3:12 the step does nothing; write one of install, reconcile, interrupt, delete, change, imports, answers, outage, wait, then',
    ],
    [
      'names objects completely',
      oneCase('then: { absent: [{ apiVersion: v1, kind: Secret }] }'),
      '3:22 the Secret has no metadata.name',
    ],
    [
      'has answers of one kind',
      oneCase('given: { answers: { shop/db: { never: true, fails: no } } }', 'then: {}'),
      '3:34 an answer has only one of fails and never',
    ],
  ];
  for (const [what, text, mistake] of rows)
    it(what, () => {
      expect(mistakesIn(text)).to.deep.equal([mistake]);
    });
});
