/**
 * Strings of tenants that take quadratic time in a careless expression: half a million characters would hold the
 * process for minutes, and these tests with it.
 */
import { expect } from 'chai';
import { trimmedEnd, trimmedEnds, withoutIndex } from '../../../src/lib/trim.ts';
import { addressOf } from '../../../src/components/context.ts';
import { parseChallenge } from '../../../src/components/challenge.ts';
import { RepositoryUnusable } from '../../../src/components/errors.ts';
import { pullFailure } from '../../../deployers/container/image-pull.ts';
import { maskOf } from '../../../src/lib/masking.ts';
import { YamlError } from '../../../src/lib/yaml-error.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { loadAccess } from '../../../src/runtime/transport/kubeconfig.ts';
import { kubeconfigOf } from '../../support/hostile-server.ts';

const LONG = 500_000;

describe('characters at the ends of a string', () => {
  it('are removed, and others stay', () => {
    expect(trimmedEnd('//a/b//', '/')).to.equal('//a/b');
    expect(trimmedEnd('a.-.', '.-')).to.equal('a');
    expect(trimmedEnds('//a/b//', '/')).to.equal('a/b');
    expect([trimmedEnd('///', '/'), trimmedEnds('///', '/'), trimmedEnds('', '/')]).to.deep.equal([
      '',
      '',
      '',
    ]);
  });

  for (const [text, without] of [
    ['list[key]', 'list'],
    ['a[b][c]', 'a[b]'],
    ['a[b[c]', 'a'],
    ['a]', 'a]'],
    ['a[b]c', 'a[b]c'],
    ['a[]', 'a'],
    ['', ''],
  ] as const) {
    it(`without the index of "${text}", "${without}" is left`, () => {
      expect(withoutIndex(text)).to.equal(without);
      expect(withoutIndex(text)).to.equal(text.replace(/\[[^\]]*\]$/, ''));
    });
  }
});

describe('a long string', () => {
  it('is read at once as the address of a target', async () => {
    // The kubeconfig as a whole may have 256 KiB.
    const server = `https://api.example.org${'/'.repeat(200_000)}x/`;
    const text = kubeconfigOf(server);
    expect((await loadAccess({ text }, () => Promise.reject(new Error('not asked')))).server).to.equal(
      server.slice(0, -1),
    );
  });

  it('is read at once as the address of a registry', () => {
    const path = `a${'/'.repeat(LONG)}x`;
    expect(addressOf(`https://example.org/${path}/`)).to.deep.equal({ host: 'https://example.org', path });
    expect(() => addressOf(`example.org${'/'.repeat(LONG)}\n!`)).to.throw(RepositoryUnusable);
  });

  it('is read at once as the challenge of a registry', () => {
    expect(parseChallenge(`Bearer ${'a'.repeat(LONG)}`)).to.equal(undefined);
    const header = `Bearer ${'a'.repeat(1000)},realm="https://example.org/token",service=s`;
    expect(parseChallenge(header)).to.include({ realm: 'https://example.org/token', service: 's' });
  });

  it('is read at once as a reference to an element of a list', () => {
    const text = `${'['.repeat(LONG)}]x`;
    expect(withoutIndex(text)).to.equal(text);
    expect(withoutIndex(`${'['.repeat(LONG)}]`)).to.equal('');
  });

  it('is masked at once as a secret with many blanks', () => {
    const mask = maskOf([`first-line${' '.repeat(LONG)}second-part`]);
    expect(mask('has second-part')).to.equal('has [...]');
  });

  it('is read at once as the reason why an image cannot be pulled', () => {
    expect(pullFailure('ErrImagePull', `not found: ${'a'.repeat(LONG)}`)).to.equal('final');
  });

  it('is read at once as binary data in YAML', () => {
    expect(() => parseYaml(`!!binary "${' '.repeat(LONG)}!"`)).to.throw(YamlError, 'invalid base64');
    expect(parseYaml('!!binary "aGk= "')).to.equal('hi');
  });
});
