import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ruleTable } from '../../../../src/blueprint/lint/inspect.ts';
import { BLUEPRINT, cases } from './cases.ts';
import { inspect, lineOf, sound } from './sound.ts';

const root = join(import.meta.dirname, '../../../..');
const ruleIn = (line: string): string => /\[([\w-]+)\]$/.exec(line)?.[1] ?? '';
const rules = Object.values(ruleTable).flatMap((group) => Object.entries(group));

describe('inspecting a blueprint', () => {
  it('finds nothing in a valid one', () => {
    expect(inspect(sound).map(lineOf)).to.deep.equal([]);
  });

  for (const { title, file = BLUEPRINT, replace, by, says } of cases)
    it(`points at ${title}`, () => {
      const text = sound[file] ?? '';
      expect(text.split(replace).length, 'places to spoil').to.be.at.least(2);
      const findings = inspect({ ...sound, [file]: text.replace(replace, by) });
      expect(findings.map(lineOf)).to.include(says);
    });
});

describe('the rules', () => {
  /** Mistakes that are not a change of the valid blueprint are tested in documents.test.ts. */
  const elsewhere = ['blueprint-empty', 'installation-invalid', 'root-cycle', 'root-export-conflict'];

  it('are all tested', () => {
    const tried = new Set([...cases.map(({ says }) => ruleIn(says)), ...elsewhere]);
    expect(rules.map(([name]) => name).filter((name) => !tried.has(name))).to.deep.equal([]);
  });

  it('are all on the page, with their level and message', () => {
    const page = readFileSync(join(root, 'docs/blueprints.md'), 'utf8');
    const missing = rules.filter(
      ([name, { level, about }]) =>
        !page.includes(`| \`${name}\` | ${level} | ${about.replaceAll('|', '\\|')} |`),
    );
    expect(missing.map(([name]) => name)).to.deep.equal([]);
  });

  it('are the only ones on the page', () => {
    const page = readFileSync(join(root, 'docs/blueprints.md'), 'utf8');
    const named = [...page.matchAll(/^\| `([\w-]+)` \| (?:error|warning|info) \|/gm)].map(([, name]) => name);
    expect(named).to.have.members(rules.map(([name]) => name));
  });
});
