import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { documentFunctions } from '../../../../../src/templating/spiff/eval/document-functions.ts';
import { specialForms } from '../../../../../src/templating/spiff/eval/special-forms.ts';
import { standardFunctions } from '../../../../../src/templating/spiff/functions/index.ts';

const page = readFileSync(new URL('../../../../../docs/spiff-functions.md', import.meta.url), 'utf8');
const section = (title: string): string =>
  new RegExp(`## ${title}\n([^]*?)(\n## |$)`).exec(page)?.[1] ?? expect.fail(`there is no section ${title}`);
const names = (text: string): string[] =>
  [...text.matchAll(/`([a-z_0-9]+)`/g)].map(([, name]) => name as string);

const ofLanguage = Object.keys({ ...documentFunctions, ...specialForms });

describe('the page of Spiff functions', () => {
  it('lists every function, and no other', () => {
    expect(names(section('Provided'))).to.have.members(Object.keys(standardFunctions));
  });
  it('lists every part of the language, and no other', () => {
    expect(names(section('Part of the language'))).to.have.members(ofLanguage);
  });
  it('lists as missing only what is missing', () => {
    const first = section('Missing')
      .split('\n')
      .map((line) => line.split('|')[1] ?? '');
    const there = [...Object.keys(standardFunctions), ...ofLanguage];
    expect(there.filter((name) => first.flatMap(names).includes(name))).to.deep.equal([]);
  });
});
