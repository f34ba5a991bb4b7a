import { expect } from 'chai';
import { fn } from '../../../../src/templating/gotemplate/signature.ts';
import { parseTemplate } from '../../../../src/templating/gotemplate/template.ts';

describe('the cache of parsed templates', () => {
  it('answers the same object for the same text', () => {
    expect(parseTemplate('a', 'x{{ . }}')).to.equal(parseTemplate('a', 'x{{ . }}'));
  });

  it('keeps names and functions apart', () => {
    const first = { one: fn('', () => '1') };
    expect(parseTemplate('a', 'y{{ . }}')).not.to.equal(parseTemplate('b', 'y{{ . }}'));
    expect(parseTemplate('a', '{{ one }}', first).name).to.equal('a');
    expect(() => parseTemplate('a', '{{ one }}')).to.throw('function "one" not defined');
  });

  it('forgets what was not used for long', () => {
    const early = parseTemplate('a', 'early');
    for (let i = 0; i < 600; i++) parseTemplate('a', `text ${String(i)}`);
    expect(parseTemplate('a', 'early')).not.to.equal(early);
  });
});
