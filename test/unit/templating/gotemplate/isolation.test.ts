import { expect } from 'chai';
import { render } from './support.ts';

describe('the values of a template', () => {
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    it(`do not have a ${name} unless it is set`, () => {
      expect(render(`{{ .${name} }} {{ .m.${name} }} {{ hasKey .m "${name}" }}`, { m: {} })).to.equal(
        '<no value> <no value> false',
      );
      expect(render(`{{ $d := dict "${name}" 5 }}{{ $d.${name} }} {{ toJson $d }}`, {})).to.equal(
        `5 {"${name}":5}`,
      );
    });
  }

  it('are not changed by set, unset and merge', () => {
    const data = { m: { a: 1, n: { x: 1 } } };
    const text =
      '{{ $_ := set .m "b" 2 }}{{ $_ := unset .m "a" }}{{ $_ := merge .m.n (dict "y" 2) }}{{ toJson .m }}';
    expect(render(text, data)).to.equal('{"b":2,"n":{"x":1,"y":2}}');
    expect(data).to.deep.equal({ m: { a: 1, n: { x: 1 } } });
  });

  it('may be changed for the rest of the same template', () => {
    expect(render('{{ $_ := set .m "b" 2 }}{{ .m.b }}', { m: {} })).to.equal('2');
  });

  it('keep integers beyond 2^53 if they are bigints', () => {
    expect(render('{{ .n }} {{ toJson .n }} {{ add .n 1 }}', { n: 9007199254740993n })).to.equal(
      '9007199254740993 9007199254740993 9007199254740994',
    );
  });

  it('distinguish a missing value from a null inside a list', () => {
    expect(render('{{ range . }}{{ with . }}{{ .x }}{{ end }}{{ end }}', [{ x: 1 }, null])).to.equal('1');
    expect(render('{{ $v := .a }}{{ $v.b }}', {})).to.equal('<no value>');
    expect(() => render('{{ range . }}{{ .x }}{{ end }}', [null])).to.throw(
      'nil pointer evaluating interface {}.x',
    );
  });
});

describe('strings that are not valid UTF-8', () => {
  it('keep their bytes inside a template', () => {
    expect(render('{{ b64dec "/wD+" | b64enc }} {{ len (b64dec "/wD+") }}', {})).to.equal('/wD+ 3');
    expect(render('{{ trunc 1 "ä" | printf "%x" }} {{ printf "%q" (trunc 1 "ä") }}', {})).to.equal(
      'c3 "\\xc3"',
    );
  });

  it('become characters again when they are concatenated', () => {
    expect(
      render('{{ print (trunc 1 "ä") (substr 1 2 "ä") }}{{ trunc 1 "ä" }}{{ substr 1 2 "ä" }}', {}),
    ).to.equal('ää');
  });

  it('are replaced in the output of the template', () => {
    expect(render('{{ trunc 1 "ä" }}', {})).to.equal('\ufffd');
    expect(render('{{ trunc 1 "ä" | toJson }}', {})).to.equal('"\\ufffd"');
  });
});
