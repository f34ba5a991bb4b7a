import { expect } from 'chai';
import { seededRng } from '../../../../src/lib/rng.ts';
import type { TemplateLimits } from '../../../../src/templating/budget.ts';
import { TemplateLimitExceeded } from '../../../../src/templating/gotemplate/errors.ts';
import { execute, parseTemplate } from '../../../../src/templating/gotemplate/template.ts';
import { FakeClock } from '../../../support/clock.ts';

/** A clock that moves on whenever it is read. */
class BusyClock extends FakeClock {
  #looks = 0;
  override now(): number {
    return this.#looks++ * 100;
  }
}

function run(text: string, limits: Partial<TemplateLimits> = {}): string {
  return execute(parseTemplate('t', text), {}, { clock: new FakeClock(), rng: seededRng(1), limits });
}

const stopped: readonly [string, string, Partial<TemplateLimits>, string][] = [
  [
    'that prints too much',
    '{{ range until 100 }}0123456789{{ end }}',
    { maxOutputBytes: 900 },
    'larger than 900 bytes',
  ],
  [
    'that creates a string that is too long',
    '{{ len (repeat 1000 "x") }}',
    { maxOutputBytes: 900 },
    'more than 900 bytes',
  ],
  [
    'that creates a list that is too long',
    '{{ len (until 1000) }}',
    { maxOutputBytes: 900 },
    'more than 900 bytes',
  ],
  [
    'that doubles a string over and over',
    '{{ $x := "ab" }}{{ range until 60 }}{{ $x = print $x $x }}{{ end }}',
    { maxOutputBytes: 100000 },
    'more than 100000 bytes',
  ],
  [
    'that pads without end',
    '{{ printf "%999999d %999999d" 1 2 | len }}',
    { maxOutputBytes: 100000 },
    'more than 100000 bytes',
  ],
  ['that indents without end', '{{ indent 1000000000 "x" }}', {}, 'more than 16777216 bytes'],
  [
    'that loops too often',
    '{{ range until 1000 }}{{ range until 1000 }}{{ end }}{{ end }}',
    { maxSteps: 1000 },
    'more than 1000 steps',
  ],
  [
    'that counts too far',
    '{{ range 100000000000 }}{{ $x := 1 }}{{ end }}',
    { maxSteps: 10000 },
    'more than 10000 steps',
  ],
  [
    'that calls itself',
    '{{ define "x" }}{{ template "x" }}{{ end }}{{ template "x" }}',
    {},
    'exceeded maximum template depth (500), a fixed limit',
  ],
  [
    'that contains itself',
    '{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ $d }}',
    {},
    'exceeded the memory or depth',
  ],
];

describe('the limits of a template', () => {
  for (const [what, text, limits, reason] of stopped) {
    it(`stop one ${what}`, () => {
      expect(() => run(text, limits)).to.throw(TemplateLimitExceeded, reason);
    });
  }

  it('stop one that takes too long', () => {
    const template = parseTemplate('t', '{{ range until 100000 }}{{ $x := 1 }}{{ end }}');
    const options = { clock: new BusyClock(), rng: seededRng(1), limits: { timeoutMs: 1000 } };
    expect(() => execute(template, {}, options)).to.throw(TemplateLimitExceeded, 'takes longer than 1000 ms');
  });

  it('reject one that is nested too deeply to be parsed', () => {
    const text = `{{ ${'('.repeat(20000)}1${')'.repeat(20000)} }}`;
    expect(() => run(text)).to.throw('the template is nested too deeply');
  });

  it('allow strings of just that size', () => {
    expect(run('{{ repeat 900 "x" | len }}', { maxOutputBytes: 900 })).to.equal('900');
  });

  it('do not affect ordinary templates', () => {
    expect(run('{{ range until 3 }}{{ . }}{{ end }}')).to.equal('012');
  });
});
