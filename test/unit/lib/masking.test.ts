import { expect } from 'chai';
import { comparisonsDuring } from '../../support/comparisons.ts';
import { maskError, maskOf, shorten } from '../../../src/lib/masking.ts';

const kubeconfig = JSON.stringify({
  kind: 'Config',
  clusters: [{ name: 'the-only-one', cluster: { server: 'https://api.example.org' } }],
  users: [{ name: 'administrator', user: { username: 'somebody', password: 'pass1' } }],
});

describe('the mask over values', () => {
  const rows: readonly (readonly [does: string, secret: unknown, text: string, shown: string])[] = [
    ['finds a short field of a document in a string', kubeconfig, 'not "pass1"', 'not "[...]"'],
    ['shows names and addresses in a kubeconfig', kubeconfig, 'administrator of https://api.example.org', ''],
    ['hides them in other documents', 'name: administrator', 'by administrator', 'by [...]'],
    ['reads all documents of a string', 'a: first\n---\na: second', 'first, second', '[...], [...]'],
    ['finds words if there is no document', 'a: [\nb: correct-horse', 'a correct-horse', 'a [...]'],
    ['hides a string with its blanks', '  padded1\n', '<  padded1\n>', '<[...]>'],
    ['leaves blanks alone', '      ', 'a      b', ''],
    [
      'finds numbers that no double can represent',
      'pin: 12345678901234567890',
      '12345678901234567890!',
      '[...]!',
    ],
  ];
  for (const [does, secret, text, shown] of rows)
    it(does, () => {
      expect(maskOf([{ secret }])(text)).to.equal(shown === '' ? text : shown);
    });

  it('hides a short value that stands alone, even if a longer one begins there that does not', () => {
    const mask = maskOf([{ short: 'abcd', longer: 'abcd.e' }]);
    expect(mask('abcd.ex abcdx abcd.e')).to.equal('[...].ex abcdx [...]');
  });

  it('does not search the text for each of the values', () => {
    const mask = maskOf([Array.from({ length: 5000 }, (_, i) => `value-${String(i)}`)]);
    mask('');
    let shown = '';
    const comparisons = comparisonsDuring(() => (shown = mask('not value-4999, but valuable')));
    expect(shown).to.equal('not [...], but valuable');
    expect(comparisons).to.be.at.most(100);
  });
});

describe('a message that is too long', () => {
  const long = `${'ö'.repeat(5000)}\nin deploy execution "x"`;

  it('is shortened, and keeps its last line', () => {
    expect(shorten(long)).to.match(/^ö{4000,}…\nin deploy execution "x"$/);
    expect(Buffer.byteLength(shorten(long))).to.be.within(8180, 8192);
    expect(shorten(shorten(long))).to.equal(shorten(long));
  });

  it('is shortened after it was masked, in stacks too', () => {
    const secret = 's'.repeat(8000);
    const { message, stack } = maskError(new Error(`${'-'.repeat(1000)}${secret}${long}`), maskOf([secret]));
    expect(message).to.match(/^-{1000}\[\.\.\.\]ö+…\nin deploy execution "x"$/);
    expect(stack)
      .to.contain(message)
      .and.match(/\n +at /);
  });

  it('masks as many and as long values as a user may have', () => {
    const values = Array.from({ length: 5 }, (_, i) => `${String(i)}-secret-`.repeat(50_000));
    const mask = maskOf([values]);
    expect(mask(`it says ${values.join(' ')}.`)).to.equal(`it says ${values.map(() => '[...]').join(' ')}.`);
  });

  it('masks all of several overlapping values', () => {
    expect(maskOf(['first-secret', 'secret-second'])('a first-secret-second b')).to.equal('a [...] b');
  });
});
