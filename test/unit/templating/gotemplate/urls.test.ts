import { expect } from 'chai';
import { failure, render } from './support.ts';

describe('a long token in an error', () => {
  it('is measured in bytes and shown in characters, as in Go', () => {
    expect(failure('{{ abbrev 6"äöüßäöü" }}')).to.contain('unexpected "\\"äöüßäöü\\""... in operand');
  });
});

describe('URLs in templates', () => {
  it('have characters that are invalid in hosts escaped, and others not', () => {
    expect(render('{{ urlJoin (dict "scheme" "http" "host" "h{é}:1" "path" "/p") }}')).to.equal(
      'http://h%7B%C3%A9%7D:1/p',
    );
    expect(render('{{ urlJoin (dict "scheme" "http" "host" "[::1]:80") }}')).to.equal('http://[::1]:80');
  });

  it('may have control characters in the fragment only', () => {
    expect(render('{{ (urlParse "http://a/b#c\\ad").fragment }}')).to.equal('c\u0007d');
    expect(failure('{{ urlParse "http://a/b\\a#c" }}')).to.contain('invalid control character in URL');
  });
});
