import { expect } from 'chai';
import { fn } from '../../../../src/templating/gotemplate/signature.ts';
import { parseTemplate } from '../../../../src/templating/gotemplate/template.ts';

describe('the cache of parsed templates', () => {
  it('returns the same object for the same text', () => {
    expect(parseTemplate('a', 'x{{ . }}')).to.equal(parseTemplate('a', 'x{{ . }}'));
  });

  it('distinguishes names and functions', () => {
    const first = { one: fn('', () => '1') };
    expect(parseTemplate('a', 'y{{ . }}')).not.to.equal(parseTemplate('b', 'y{{ . }}'));
    expect(parseTemplate('a', '{{ one }}', first).name).to.equal('a');
    expect(() => parseTemplate('a', '{{ one }}')).to.throw('function "one" not defined');
  });

  it('drops entries that were not used for long', () => {
    const early = parseTemplate('a', 'early');
    for (let i = 0; i < 600; i++) parseTemplate('a', `text ${String(i)}`);
    expect(parseTemplate('a', 'early')).not.to.equal(early);
  });
});
